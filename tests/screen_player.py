"""Plays to a terminal what a test writes into a pipe, one JSON object a line: entries to show, drafts, a pause."""

import json
import os
import sys
from datetime import datetime
from pathlib import Path

from opspilot.cli.terminal import TerminalView
from opspilot.core.entries import Entry, Kind
from opspilot.core.ports import Draft
from opspilot.texts.language import Language, speak


def main() -> None:
    speak(Language(os.environ.get("PLAYER_LANGUAGE", "en")))
    view = TerminalView(sys.stdout, console_address="http://127.0.0.1:8233")
    with Path(sys.argv[1]).open(encoding="utf-8") as orders:
        for line in orders:
            order = json.loads(line)
            match order.pop("do"):
                case "show":
                    kind, at = Kind(order.pop("kind")), datetime.fromisoformat(order.pop("at"))
                    view.show(Entry(session="talk", seq=1, run="r1", key="k", kind=kind, at=at, **order))
                case "draft":
                    view.draft(tuple(Draft("r1", 1, order["attempt"], each) for each in order["texts"]))
                case _:
                    view.pause()


if __name__ == "__main__":
    main()
