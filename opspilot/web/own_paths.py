"""Where somebody may be led on to: to a path on this server, whatever an address or a form says."""

HOME = "/"
MOST_CHARACTERS = 2000
"""Of a path to be led on to: while somebody is at a provider it waits in a cookie, and a larger one gets lost."""


def own_path(wanted: str) -> str:
    """The path on this server that was wanted; whatever may lead elsewhere becomes the front page."""
    plain = wanted.startswith("/") and not wanted.startswith(("//", "/\\", "/sign-")) and wanted.isprintable()
    return wanted if plain and len(wanted) <= MOST_CHARACTERS else HOME
