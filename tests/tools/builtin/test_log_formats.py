"""What a log line says, in each format that programs write."""

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.tools.builtin.logs.formats import FORMATS, detect_format, parse_line
from opspilot.tools.builtin.logs.levels import level_in_words, level_named
from opspilot.tools.builtin.logs.line import Clock, parse_time, service_of_path

CLOCK = Clock(latest=datetime(2026, 11, 30, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "format_name", "time", "level", "service", "message"),
    [
        (
            '{"ts": 1764500000.5, "level": 50, "msg": "no route", "service": {"name": "pay"}}',
            *("json", "2025-11-30T10:53:20.500000+00:00", "error", "pay", "no route"),
        ),
        (
            '{"@timestamp":"2026-11-30T10:00:00.000Z","log.level":"WARN","message":"slow","app":"web"}',
            *("json", "2026-11-30T10:00:00+00:00", "warning", "web", "slow"),
        ),
        (
            '{"time":"2026-11-30T10:00:00Z","stream":"stderr","log":"ERROR: no disk"}',
            *("json", "2026-11-30T10:00:00+00:00", "error", None, "ERROR: no disk"),
        ),
        (
            'ts=2026-11-30T10:00:00Z level=warn service=orders msg="a \\"b\\" c" n=1',
            *("logfmt", "2026-11-30T10:00:00+00:00", "warning", "orders", 'a "b" c'),
        ),
        (
            "Dec 10 06:55:46 LabSZ sshd[24200]: error: Received disconnect",
            *("syslog", "2025-12-10T06:55:46+00:00", "error", "sshd", "error: Received disconnect"),
        ),
        (
            "Jun 15 02:04:59 combo sshd(pam_unix)[20882]: authentication failure",
            *("syslog", "2026-06-15T02:04:59+00:00", None, "sshd", "authentication failure"),
        ),
        (
            "Jun  9 06:06:20 combo syslogd 1.4.1: restart.",
            *("syslog", "2026-06-09T06:06:20+00:00", None, None, "syslogd 1.4.1: restart."),
        ),
        (
            "2026-11-30T10:00:00.5+01:00 web-1 nginx[12]: started",
            *("syslog", "2026-11-30T09:00:00.500000+00:00", None, "nginx", "started"),
        ),
        (
            "[Sun Dec 04 04:47:44 2005] [error] mod_jk child workerEnv in error state 6",
            *("apache-error", "2005-12-04T04:47:44+00:00", "error", None, "mod_jk child workerEnv in error state 6"),
        ),
        (
            "[Wed Oct 11 14:32:52.123456 2023] [core:warn] [pid 7:tid 9] [client 10.0.0.1:4711] denied",
            *("apache-error", "2023-10-11T14:32:52+00:00", "warning", None, "[client 10.0.0.1:4711] denied"),
        ),
        (
            "nova-api.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008 25746 INFO nova.wsgi [req-7 1 2 -] status: 200",
            *("timed", "2017-05-16T00:00:00.008000+00:00", "info", "nova-api", "status: 200"),
        ),
        (
            "2026-11-30 12:00:00,123 ERROR pay.pool - none left",
            *("timed", "2026-11-30T12:00:00.123000+00:00", "error", None, "none left"),
        ),
        (
            "2026-11-30 12:00:00.123  INFO 12 --- [main] c.e.Foo : Started",
            *("timed", "2026-11-30T12:00:00.123000+00:00", "info", None, "Started"),
        ),
        (
            "2026-11-30T12:00:00Z [main] WARN  c.e.Foo - hm",
            *("timed", "2026-11-30T12:00:00+00:00", "warning", None, "hm"),
        ),
        (
            '<165>1 2003-10-11T22:14:15.003Z web-1 evnt 12 ID47 [ex@32473 iut="3" s="a \\"b\\" \\]"] \ufeffhello',
            *("rfc5424", "2003-10-11T22:14:15.003000+00:00", "notice", "evnt", "hello"),
        ),
        (
            "<34>1 2003-10-11T22:14:15+02:00 web-1 su - - - 'su root' failed",
            *("rfc5424", "2003-10-11T20:14:15+00:00", "critical", "su", "'su root' failed"),
        ),
        (
            "<35>Oct 11 22:14:15 web-1 su: words",
            *("syslog", "2026-10-11T22:14:15+00:00", "error", "su", "words"),
        ),
        (
            '10.0.0.1 - anna [30/Nov/2026:10:00:00 +0100] "GET /a/b?c=d HTTP/1.1" 503 12 "-" "curl/8.5" 0.250',
            *("access", "2026-11-30T09:00:00+00:00", "error", None, "GET /a/b 503"),
        ),
        (
            'shop.example:443 2001:db8::1 - - [30/Nov/2026:10:00:00 +0000] "-" 408 -',
            *("access", "2026-11-30T10:00:00+00:00", "warning", None, "- 408"),
        ),
        (
            "2026/11/30 10:00:00 [crit] 7#8: *5 SSL_do_handshake() failed, client: 10.0.0.1, server: a",
            *("nginx-error", "2026-11-30T10:00:00+00:00", "critical", None),
            "SSL_do_handshake() failed, client: 10.0.0.1, server: a",
        ),
        (
            "E1130 10:00:00.500000       1 reflector.go:147] failed to list",
            *("klog", "2026-11-30T10:00:00.500000+00:00", "error", None, "failed to list"),
        ),
        (
            "2026/11/30 10:00:00 http: TLS handshake error",
            *("timed", "2026-11-30T10:00:00+00:00", "error", None, "http: TLS handshake error"),
        ),
        (
            "2026-11-30 10:00:00.123 UTC [99] ERROR:  deadlock detected",
            *("timed", "2026-11-30T10:00:00.123000+00:00", "error", None, "deadlock detected"),
        ),
        (
            "[2026-11-30T10:00:00,123][WARN ][o.e.x.Y] [node-1] low",
            *("timed", "2026-11-30T10:00:00.123000+00:00", "warning", None, "[node-1] low"),
        ),
        (
            "26/11/30 10:00:00 INFO storage.BlockManager: found block",
            *("timed", "2026-11-30T10:00:00+00:00", "info", None, "found block"),
        ),
        (
            "081109 203615 148 WARN dfs.DataNode: gone",
            *("timed", "2008-11-09T20:36:15+00:00", "warning", None, "gone"),
        ),
        (
            "03-17 16:13:38.811  1702  2395 E WindowManager: no window",
            *("timed", "2026-03-17T16:13:38.811000+00:00", "error", None, "no window"),
        ),
        (
            "7:M 30 Nov 2026 10:00:00.123 # Out of memory",
            *("timed", "2026-11-30T10:00:00.123000+00:00", "warning", None, "Out of memory"),
        ),
        (
            '{"PRIORITY":"3","MESSAGE":"m","SYSLOG_IDENTIFIER":"cron","__REALTIME_TIMESTAMP":"1764500000500000"}',
            *("json", "2025-11-30T10:53:20.500000+00:00", "error", "cron", "m"),
        ),
        (
            '{"@t":"2026-11-30T10:00:00Z","@mt":"m","@l":"Fatal"}',
            *("json", "2026-11-30T10:00:00+00:00", "critical", None, "m"),
        ),
        (
            "1764500000|ERR|router|no route",
            *("timed", "2025-11-30T10:53:20+00:00", "error", None, "ERR|router|no route"),
        ),
        (
            "[E] 2026-11-30 10:00:00 job 3 crashed",
            *("timed", "2026-11-30T10:00:00+00:00", "error", None, "job 3 crashed"),
        ),
        ("plain words, error included", "text", None, "error", None, "plain words, error included"),
        ("INFO:root:hello", "text", None, "info", None, "INFO:root:hello"),
    ],
)
def test_a_line_of_each_format_is_understood(
    text: str, format_name: str, time: str | None, level: str | None, service: str | None, message: str
) -> None:
    assert detect_format([text]) == format_name
    line = parse_line(text, format_name, CLOCK)
    found = None if line.time is None else datetime.fromtimestamp(line.time, UTC).isoformat()
    assert (found, line.level, line.service, line.message) == (time, level, service, message)


def test_a_line_of_another_format_is_understood_all_the_same() -> None:
    line = parse_line('{"level":"fatal","msg":"gone"}', "syslog", CLOCK)
    assert (line.level, line.message) == ("critical", "gone")


def test_a_continuation_has_no_level_of_its_own() -> None:
    """Else the lines of a stack trace would be counted as further errors."""
    assert parse_line("    raise ValueError('error')", "timed", CLOCK).level is None


@pytest.mark.parametrize(
    ("month_and_day", "year"),
    [("Nov 30", 2026), ("Dec  1", 2026), ("Dec  2", 2025), ("Jan  1", 2026), ("Feb 29", 2024)],
)
def test_a_time_without_a_year_is_put_in_the_latest_year_that_is_not_in_the_future(
    month_and_day: str, year: int
) -> None:
    line = parse_line(f"{month_and_day} 08:00:00 host program: words", "syslog", CLOCK)
    assert line.time is not None
    assert datetime.fromtimestamp(line.time, UTC).year == year


def test_a_time_without_a_zone_is_read_in_the_configured_zone() -> None:
    clock = Clock(CLOCK.latest, ZoneInfo("Asia/Shanghai"))
    assert parse_time("2026-11-30 20:00:00", clock) == datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("digits", ["1764500000", "1764500000000", "1764500000000000", "1764500000000000000"])
def test_a_number_is_seconds_or_milli_micro_nanoseconds_by_its_size(digits: str) -> None:
    assert parse_time(digits, CLOCK) == pytest.approx(1764500000)


@pytest.mark.parametrize("text", ["", "yesterday", "12", "99999999999999999999999", "2026-13-40T99:00:00Z"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_time(text, CLOCK) is None


@pytest.mark.parametrize(
    ("path", "service"),
    [
        ("payment.log", "payment"),
        ("payment.log.1.gz", "payment"),
        ("payment-2026-11-30.log", "payment"),
        ("nova-api.log.1.2017-05-16_13:53:08", "nova-api"),
        ("payment/app.log", "payment"),
        ("pods/web/0.log", "web"),
        ("shop/orders/stdout.2026-11-30.txt", "orders"),
        ("app.log", "app.log"),
        ("Apache.log", "Apache"),
        ("支付/error.log", "支付"),
    ],
)
def test_a_logs_path_names_its_service(path: str, service: str) -> None:
    assert service_of_path(path) == service


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("ERROR connection lost", "error"),
        ("[warning] low on memory", "warning"),
        ("fatal: not a repository", "critical"),
        ("java.lang.NullPointerException: x", "error"),
        ("an error occurred", "error"),
        ("报错ERROR超时", "error"),
        ("[E] job 3 crashed", "error"),
        ("1767322830|W|router|slow", "warning"),
        ("see appendix [E] for more", None),
        ("terrors of the deep", None),
        ("for your info, nothing to debug", None),
        ("mirrored", None),
        ("Failed password for root", None),
    ],
)
def test_a_level_is_found_in_words(text: str, level: str | None) -> None:
    assert level_in_words(text) == level


@pytest.mark.parametrize(
    ("value", "level"),
    [
        ("WARN", "warning"),
        ("Err", "error"),
        ("fatal", "critical"),
        ("30", "info"),
        ("7", None),
        ("", None),
        ("x", None),
    ],
)
def test_a_levels_spelling_does_not_matter(value: str, level: str | None) -> None:
    assert level_named(value) == level


def test_an_access_log_says_its_fields() -> None:
    text = (
        '10.0.0.1 - anna [30/Nov/2026:10:00:00 +0000] "GET /a?b=c HTTP/2.0" 200 512 "http://r/" "Mozilla (x)" rt=0.25 '
        'uct="0.01"'
    )
    assert parse_line(text, "access", CLOCK).fields == {
        "client": "10.0.0.1",
        "user": "anna",
        "method": "GET",
        "path": "/a",
        "url": "/a?b=c",
        "query": "b=c",
        "protocol": "HTTP/2.0",
        "request": "GET /a?b=c HTTP/2.0",
        "status": "200",
        "bytes": "512",
        "referrer": "http://r/",
        "agent": "Mozilla (x)",
        "duration": "0.25",
    }


@pytest.mark.parametrize(
    ("behind", "duration"),
    [("0.125 0.120 .", "0.125"), ("1834", "1834"), ("300 4096", None), ('"1.5"', "1.5"), ("", None), ("-", None)],
)
def test_the_duration_behind_an_access_line_is_taken_only_when_it_is_plain(behind: str, duration: str | None) -> None:
    text = f'10.0.0.1 - - [30/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-" {behind}'
    assert parse_line(text, "access", CLOCK).fields.get("duration") == duration


@given(st.text(max_size=300), st.sampled_from([*FORMATS, "text"]))
def test_no_line_is_too_strange(text: str, format_name: str) -> None:
    line = parse_line(text, format_name, CLOCK)
    assert line.message.encode() is not None


@given(st.text(max_size=80))
def test_a_json_line_gives_back_its_message(message: str) -> None:
    line = parse_line(json.dumps({"level": "info", "msg": message or "x"}), "json", CLOCK)
    assert line.message == (message or "x")
