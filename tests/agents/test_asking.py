"""The client and its commands where something goes wrong: files, servers, answers, terminals."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import runrate
from apps.web.rest.examples import answers_of
from runrate import client as asking_client
from runrate import job_files
from runrate.answers import Admission, NextMove, Offer, Quote
from runrate.cli import main
from runrate.job_files import BadJobFile, admitted_job, quoted_job, read_job
from runrate.quote_table import display_width, quote_text
from runrate.reading import UnreadableAnswer, read_answer

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUOTE = answers_of("ask_quote")["201",]["A quote"]
ADMISSION = answers_of("ask_admission")["201",]["An admission"]
MOVE = answers_of("ask_next_move")["200",]["The next move"]
OFFER = answers_of("list_offers")["200",]["Offers"]["results"][0]
JOB = {"gpus": 8, "work": {"gpu_hours": 384}}
EXAMPLE = Path(__file__).resolve().parents[2] / "agents" / "sdk" / "job.toml"


class FarRunrate:
    """Answers as it is told, one by one, and remembers what it was asked; `"drop"` hangs up."""

    def __init__(self) -> None:
        self.answers: deque[Any] = deque()
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        far = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                far.asked.append((self.path, dict(self.headers), json.loads(raw or "null")))
                answer = far.answers.popleft()
                if answer == "drop":
                    return
                status, body, headers = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            do_POST = do_GET  # noqa: N815 - the name of http.server

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, status: int, body: Any, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.append((status, body, named))

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Iterator[FarRunrate]:
    made = FarRunrate()
    monkeypatch.setenv("RUNRATE_URL", made.url)
    monkeypatch.setenv("RUNRATE_TOKEN", "rr_secret")
    monkeypatch.setattr(asking_client, "PAUSE_SECONDS", 0.01)
    yield made
    made.close()


def offer(**instead: Any) -> dict[str, Any]:
    return QUOTE["offers"][0] | instead


def quote(*offers: dict[str, Any], **instead: Any) -> dict[str, Any]:
    return QUOTE | {"offers": list(offers), "matched": len(offers)} | instead


LATE = offer(key="b", name="slow", standing="late", deadline_chance=0.125)
UNPRICED = offer(
    key="c", name="spot", option="spot", standing="cost_unknown", cost=None, charged=None,
    finish_hours=None, deadline_chance=None, interruptions=None, egress=None,
    unknown=["nothing is known of interruptions there"], cautions=["thin"],
)  # fmt: skip


# What the client and the server say to each other.


@pytest.mark.parametrize(
    ("form", "example"),
    [(Quote, QUOTE), (Admission, ADMISSION), (NextMove, MOVE), (Offer, OFFER)],
)
def test_the_examples_of_the_schema_are_read_whole(
    form: type[Any], example: dict[str, Any]
) -> None:
    value = read_answer(form, json.loads(json.dumps(example)))

    assert set(vars(value)) == set(example)


def test_amounts_are_exact_and_moments_have_their_offset() -> None:
    read = read_answer(Quote, QUOTE)

    assert read.asked_at == NOW
    assert read.offers[0].cost is not None
    assert read.offers[0].cost.likely.amount == Decimal("4608.000000")
    assert (read.offers[0].place, read.offers[0].is_in_time) == ("aws us-east-1", True)


def test_what_a_newer_server_adds_is_left_and_what_an_older_one_lacks_is_empty() -> None:
    newer = QUOTE | {"colour": "red"}
    older = {name: value for name, value in QUOTE.items() if name != "cautions"}

    assert read_answer(Quote, newer) == read_answer(Quote, older)
    with pytest.raises(UnreadableAnswer, match="Quote has no offers"):
        read_answer(Quote, {name: value for name, value in older.items() if name != "offers"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "1"}, "id of Quote: '1' is not of the kind int"),
        ({"gpus": True}, "gpus of Quote"),
        ({"offers": {}}, "offers of Quote"),
        ({"offers": [5]}, "QuotedOffer is no JSON object"),
        ({"asked_at": "yesterday"}, "asked_at of Quote"),
        ({"offers": [offer(charged={"amount": "much", "currency": "USD"})]}, "amount of Money"),
    ],
)
def test_an_answer_of_another_kind_is_refused_by_its_field(
    far: FarRunrate, change: dict[str, Any], said: str
) -> None:
    far.answer(201, QUOTE | change)

    with pytest.raises(runrate.NotRunrate, match=said):
        runrate.Client().quote(JOB)


def test_a_question_is_asked_again_with_its_key_where_nobody_answered(far: FarRunrate) -> None:
    far.answers.append("drop")
    far.answer(503, {"title": "Database away", "detail": "Try again shortly."}, Retry_After="0")
    far.answer(201, QUOTE)

    assert runrate.Client().quote(JOB).id == 1
    keys = {headers["Idempotency-Key"] for _, headers, _ in far.asked}
    assert (len(far.asked), len(keys)) == (3, 1)
    assert far.asked[0][0] == "/api/v1/quotes"
    assert far.asked[0][1]["Authorization"] == "Bearer rr_secret"
    assert far.asked[0][2] == JOB
    far.answer(201, QUOTE)
    runrate.Client().quote(JOB)
    assert far.asked[-1][1]["Idempotency-Key"] not in keys


def test_a_refusal_is_not_asked_again_and_names_its_fields(far: FarRunrate) -> None:
    errors = [{"field": "work.gpu_hours", "row": None, "message": "is too small"}]
    far.answer(400, {"title": "Invalid", "status": 400, "detail": "Not valid.", "errors": errors})

    with pytest.raises(runrate.AskRefused, match=r"^work.gpu_hours: is too small$") as refused:
        runrate.Client().quote(JOB)
    assert (refused.value.status, refused.value.title, len(far.asked)) == (400, "Invalid", 1)
    assert refused.value.problems[0].field == "work.gpu_hours"


def test_too_many_questions_are_told_as_such(far: FarRunrate) -> None:
    for _ in range(2):
        far.answer(429, {"title": "Throttled", "detail": "Expected in 0 seconds."}, Retry_After="0")

    with pytest.raises(runrate.AskRefused, match="Expected in 0 seconds"):
        runrate.Client(tries=2).quote(JOB)


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_without_its_server_is_a_server_away(far: FarRunrate, status: int) -> None:
    for _ in range(3):
        far.answer(status, b"<html>Bad gateway</html>", Retry_After="0")

    with pytest.raises(runrate.ServerAway, match=str(status)):
        runrate.Client().quote(JOB)
    assert len(far.asked) == 3


def test_a_redirect_is_named_and_never_gets_the_token(far: FarRunrate) -> None:
    other = FarRunrate()
    far.answer(302, b"", Location=f"{other.url}/api/v1/quotes")

    with pytest.raises(runrate.NotRunrate, match=r"sends on to http://127\.0\.0\.1"):
        runrate.Client().quote(JOB)
    assert other.asked == []
    other.close()


@pytest.mark.parametrize("body", [b"<html>It works!</html>", b"[1]", b"", b"\xff"])
def test_what_is_no_runrate_server_is_said_so(far: FarRunrate, body: bytes) -> None:
    far.answer(200, body)

    with pytest.raises(runrate.NotRunrate, match="JSON"):
        runrate.Client().kept_quote(1)


def test_a_server_that_says_nothing_is_away_in_the_time_given(far: FarRunrate) -> None:
    import socket

    silent = socket.create_server(("127.0.0.1", 0))
    port = silent.getsockname()[1]
    asker = runrate.Client(f"http://127.0.0.1:{port}", timeout=0.05, tries=2)

    with pytest.raises(runrate.ServerAway, match="does not answer"):
        asker.offers()
    silent.close()
    with pytest.raises(runrate.ServerAway, match="refused"):
        asker.offers()


@pytest.mark.parametrize(
    ("url", "token", "said"),
    [
        ("", "rr_x", "RUNRATE_URL is not set"),
        ("runrate.example", "rr_x", "RUNRATE_URL is 'runrate.example'"),
        ("file:///etc/passwd", "rr_x", "RUNRATE_URL is 'file"),
        ("http://127.0.0.1:1", "", "RUNRATE_TOKEN is not set"),
        ("http://127.0.0.1:1", "rr_x\nHost: other", "RUNRATE_TOKEN holds"),
    ],
)
def test_where_to_ask_is_checked_before_anybody_is_asked(
    monkeypatch: pytest.MonkeyPatch, url: str, token: str, said: str
) -> None:
    monkeypatch.delenv("RUNRATE_URL", raising=False)
    monkeypatch.delenv("RUNRATE_TOKEN", raising=False)

    with pytest.raises(ValueError, match=said):
        runrate.Client(url, token)


def test_a_job_that_json_cannot_say_is_refused_here(far: FarRunrate) -> None:
    with pytest.raises(ValueError, match="cannot be sent as JSON"):
        runrate.Client().quote({"gpus": {8}})
    with pytest.raises(ValueError, match="cannot be sent as JSON"):
        runrate.Client().quote({"gpus": float("nan")})
    assert far.asked == []


# Files of jobs.


def test_the_example_is_a_quote_and_an_admission() -> None:
    job = read_job(str(EXAMPLE))
    asked = quoted_job(job, NOW)

    assert asked["deadline"] == "2026-03-05T12:00:00+00:00"
    assert "admission" not in asked
    assert admitted_job(job) == {
        "team": "Research", "gpus": 8, "gpu_hours": 384, "gpu_model": "H100", "workload": "",
    }  # fmt: skip


def test_what_an_admission_says_goes_before_what_the_work_does() -> None:
    job = JOB | {"team": "A", "gpu_models": ["H100"], "admission": {"pool": "p", "hours": 4}}

    assert admitted_job(job) == {"team": "A", "gpus": 8, "pool": "p", "hours": 4}
    assert admitted_job({"team": "A", "gpus": 1, "pool": "p"}) == {
        "team": "A",
        "gpus": 1,
        "pool": "p",
    }


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("job.toml", b"", "the file is empty"),
        ("job.toml", b"  \n", "the file is empty"),
        ("job.toml", b"gpus = ", "Invalid value"),
        ("job.toml", b"deadline = 2026-03-05T12:00:00", "deadline: a moment needs an offset"),
        ("job.toml", b"deadline = 2026-03-05", "deadline: this is a moment"),
        ("job.toml", b"gpus = nan", "gpus: this is no number"),
        ("job.toml", b"\xff\xfe", "not UTF-8"),
        ("job.toml", b"#" * 1_100_000, "larger than a megabyte"),
        ("job.json", b"[1]", "a job is a JSON object"),
        ("job.json", b'{"gpus": 8', "line 1"),
        ("job.json", b"{" + b'"a":{' * 100_000, "job.json: "),
    ],
)
def test_a_file_that_is_no_job_is_refused_with_its_name(
    tmp_path: Path, name: str, text: bytes, said: str
) -> None:
    file = tmp_path / name
    file.write_bytes(text)

    with pytest.raises(BadJobFile, match=said) as refused:
        read_job(str(file))
    assert name in str(refused.value)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadJobFile, match="No such file"):
        read_job(str(tmp_path / "none.toml"))
    with pytest.raises(BadJobFile, match="Is a directory"):
        read_job(str(tmp_path))


def test_without_a_reader_of_toml_it_is_said_and_json_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_files, "_toml_reader", lambda: None)
    file = tmp_path / "job"
    file.write_text(json.dumps(JOB))

    with pytest.raises(BadJobFile, match=r"Python 3\.11 on, or with tomli"):
        read_job(str(EXAMPLE))
    assert read_job(str(file)) == JOB


@pytest.mark.parametrize("hours", [0, -1, "72", True, 1e9])
def test_a_deadline_is_hours_from_now(hours: Any) -> None:
    with pytest.raises(BadJobFile, match="deadline_hours"):
        quoted_job(JOB | {"deadline_hours": hours}, NOW)


def test_a_deadline_is_said_once() -> None:
    with pytest.raises(BadJobFile, match="say one of them"):
        quoted_job(JOB | {"deadline_hours": 5, "deadline": "2026-03-05T12:00:00Z"}, NOW)


# The program.


def ran(*words: str) -> int:
    try:
        return main(words)
    except SystemExit as left:
        return int(str(left.code))


@pytest.mark.parametrize(
    ("offers", "status"), [([offer()], 0), ([LATE], 1), ([UNPRICED], 1), ([], 1)]
)
def test_the_exit_status_says_whether_an_offer_is_in_time(
    far: FarRunrate, capsys: pytest.CaptureFixture[str], offers: list[Any], status: int
) -> None:
    far.answer(201, quote(*offers, refused={"fewer GPUs there": 2}))

    assert ran("quote", str(EXAMPLE)) == status
    assert "left out: 2 offers, fewer GPUs there" in capsys.readouterr().out


@pytest.mark.parametrize(("verdict", "status"), [("allow", 0), ("warn", 1), ("deny", 2)])
def test_the_exit_status_says_the_verdict(
    far: FarRunrate, capsys: pytest.CaptureFixture[str], verdict: str, status: int
) -> None:
    far.answer(201, ADMISSION | {"verdict": verdict})

    assert ran("admit", str(EXAMPLE)) == status
    out = capsys.readouterr().out
    assert out.startswith(
        f"{verdict.upper()}: Research, 8 GPUs, 384.0 GPU-hours, cost 4,608.00 USD"
    )
    assert "Research, monthly (hard budget): deny; needs 4608.000000 of 3000.000000 left" in out


def test_a_job_that_somebody_let_pass_may_start(far: FarRunrate) -> None:
    far.answer(201, ADMISSION | {"overridden_at": "2026-03-10T10:00:00Z", "is_admitted": True})

    assert ran("admit", str(EXAMPLE)) == 0


@pytest.mark.parametrize(
    "words",
    [
        ("quote",),
        ("quote", "job.toml", "--kept", "1"),
        ("quote", "--kept", "0"),
        ("quote", "--kept", "1", "--take", "1"),
        ("quote", "--kept", "1", "--job", "1"),
        ("quote", "--kept", "1", "--take", "1", "--job", "1", "--run", "1"),
        ("quote", "job.toml", "--colour"),
        ("admit",),
    ],
)
def test_a_wrong_use_is_told_by_its_own_status(
    far: FarRunrate, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert ran(*words) == 64
    assert "usage: runrate" in capsys.readouterr().err
    assert far.asked == []


def test_an_offer_that_is_not_there_is_not_taken(
    far: FarRunrate, capsys: pytest.CaptureFixture[str]
) -> None:
    far.answer(200, quote(offer()))

    assert ran("quote", "--kept", "1", "--take", "2", "--job", "5") == 64
    assert "quote 1 has 1 offers" in capsys.readouterr().err
    assert len(far.asked) == 1


def test_what_the_file_lacks_is_said_before_anybody_is_asked(
    far: FarRunrate, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "job.toml"
    file.write_text("priority = 'high'\n")

    assert (ran("quote", str(file)), ran("admit", str(file))) == (64, 64)
    told = capsys.readouterr().err
    assert "gpus and work are missing" in told
    assert "team and gpus are missing" in told
    assert far.asked == []


def test_a_server_away_and_a_token_without_right_have_their_status(
    far: FarRunrate, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    far.answer(403, {"title": "Permission denied", "detail": "quotes are asked by finance"})
    assert ran("quote", str(EXAMPLE)) == 77
    assert "quotes are asked by finance (RUNRATE_TOKEN)" in capsys.readouterr().err
    monkeypatch.setenv("RUNRATE_URL", "http://127.0.0.1:9")
    assert ran("quote", str(EXAMPLE)) == 69
    assert "http://127.0.0.1:9 does not answer" in capsys.readouterr().err


def test_a_job_may_come_by_standard_input_and_the_answer_be_json(far: FarRunrate) -> None:
    far.answer(201, QUOTE)
    done = subprocess.run(
        [Path(sys.executable).with_name("runrate"), "quote", "-", "--json"],
        input=json.dumps(JOB), capture_output=True, text=True, check=False, timeout=60,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == QUOTE
    assert far.asked[0][2] == JOB


# The table.


def table(width: int, *offers: dict[str, Any], **instead: Any) -> str:
    return quote_text(read_answer(Quote, quote(*offers, **instead)), width)


def test_columns_are_aligned_also_of_wide_signs() -> None:
    text = table(200, offer(name="計算機"), offer(key="b", name="a long name of a machine"))
    lines = text.splitlines()
    (head,) = (place for place, line in enumerate(lines) if line.startswith("#"))
    rows = lines[head + 2 : head + 4]

    starts = {display_width(row[: row.index("on demand")]) for row in rows}
    assert starts == {display_width(lines[head][: lines[head].index("kind")])}
    assert len({display_width(row[: row.index(" USD")]) for row in rows}) == 1


@pytest.mark.parametrize("width", [40, 60, 79, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = offer(reasons=["x" * 300, "words " * 60], name="計" * 70, cautions=["careful " * 30])
    text = table(width, long, LATE, UNPRICED, refused={"y" * 90: 1}, cautions=["old " * 40])

    assert max(map(display_width, text.splitlines())) <= width
    for words in ("why:", "careful:", "unknown: nothing is known", "evidence: price 18"):
        assert words in text


@pytest.mark.parametrize("width", [60, 200])
def test_the_deadline_stands_before_what_misses_it(width: int) -> None:
    lines = table(width, offer(), LATE, UNPRICED).splitlines()
    (missed,) = (
        place for place, line in enumerate(lines) if "deadline 2098-03-05 12:00 UTC: " in line
    )
    (unknown,) = (place for place, line in enumerate(lines) if "cost not known of what" in line)
    names = {
        name: next(
            place
            for place, line in enumerate(lines)
            if f"{number}  {name}" in line or line == f"{number} {name}"
        )
        for number, name in ((1, "h100"), (2, "slow"), (3, "spot"))
    }

    assert names["h100"] < missed < names["slow"] < unknown < names["spot"]


def test_unknown_is_never_a_number() -> None:
    text = table(200, UNPRICED, budgets=[])
    row = next(line for line in text.splitlines() if line.startswith("1 "))

    assert row.split()[-9:].count("unknown") >= 3
    assert "0.00" not in text
    assert "ledger will charge unknown" in text
    assert "egress unknown" in text


@pytest.mark.parametrize(
    ("chance", "shown"),
    [
        (1.0, "100%"),
        (0.9999, ">99%"),
        (0.5, "50%"),
        (0.0001, "<1%"),
        (0.0, "0%"),
        (None, "unknown"),
    ],
)
def test_nearly_certain_is_not_certain(chance: float | None, shown: str) -> None:
    row = next(
        line for line in table(200, offer(deadline_chance=chance)).splitlines() if line[:2] == "1 "
    )

    assert row.split()[-3] == shown


def test_names_of_others_are_no_commands_for_the_terminal() -> None:
    text = table(80, offer(name="\x1b[2Jgone\r\x07", reasons=["\x1b]0;title\x07"]))

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\r" not in text


def test_without_a_deadline_no_offer_is_said_to_meet_it() -> None:
    text = table(200, offer(deadline_chance=None), deadline=None)

    assert "no deadline" in text
    assert "in time" not in text
