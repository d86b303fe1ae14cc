"""`runrate quote` and `runrate admit`: a job from a file, the answer as text or JSON, and exit statuses."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from datetime import datetime, timezone
from typing import Callable, NoReturn

from runrate.answers import Admission, Quote
from runrate.client import AskRefused, Client, Document, RunrateError, ServerAway, read
from runrate.job_files import BadJobFile, Job, admitted_job, quoted_job, read_job
from runrate.quote_table import admission_text, quote_text

IN_TIME, NOT_IN_TIME = 0, 1
VERDICT_STATUSES = {"allow": 0, "warn": 1, "deny": 2}
BAD_INPUT, AWAY, NO_RIGHT = 64, 69, 77
"""As sysexits.h numbers them: what is asked is wrong, the server does not answer, the token may not."""
WIDTH_OF_FILES = 160
STATUSES = (
    "exit status: 64 the file, the job or the command is not understood; 69 the server does not answer;"
    " 77 the token may not ask"
)


class AskingParser(argparse.ArgumentParser):
    """Refuses with the status of a wrong input, so that 2 can mean that a job is denied."""

    def error(self, message: str) -> NoReturn:
        """What is wrong, and how it is used."""
        self.print_usage(sys.stderr)
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def add_asking(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The commands that ask; `add` makes a parser of a name."""
    quote = add(
        "quote",
        help="what a job costs where, and when it would be done",
        description="Hold a job against every offer and print them in order. Where to ask is in RUNRATE_URL and"
        " RUNRATE_TOKEN (a token of the scope schedule, or a team's own).",
        epilog="exit status: 0 the first offer's cost is known and it is in time; 1 none is. "
        + STATUSES,
    )
    quote.add_argument(
        "job", nargs="?", metavar="JOB", help="a TOML or JSON file; - reads it from stdin"
    )
    quote.add_argument(
        "--kept", type=_number, metavar="ID", help="a quote that was asked before, instead of a job"
    )
    quote.add_argument(
        "--take",
        type=_number,
        metavar="N",
        help="say that the N-th offer is taken, by --job or --run",
    )
    by = quote.add_mutually_exclusive_group()
    by.add_argument(
        "--job", dest="by_job", type=_number, metavar="ID", help="the job that takes it, by its id"
    )
    by.add_argument(
        "--run", dest="by_run", type=_number, metavar="ID", help="the run that takes it, by its id"
    )
    _add_output(quote)
    quote.set_defaults(refuse=quote.error)
    admit = add(
        "admit",
        help="whether a job may start, by budgets and quotas",
        description="Hold a job against budgets and quotas. Nothing is reserved, and nothing is stopped.",
        epilog="exit status: 0 allow, or let pass; 1 warn; 2 deny. " + STATUSES,
    )
    admit.add_argument("job", metavar="JOB", help="a TOML or JSON file; - reads it from stdin")
    _add_output(admit)
    admit.set_defaults(refuse=admit.error)


def ask(asked: argparse.Namespace) -> int:
    """Ask what a command asks; answers the exit status, or exits where the command is used wrongly."""
    if asked.command == "quote":
        _refuse_wrong_use(asked)
    try:
        client = Client()
        return _quoted(asked, client) if asked.command == "quote" else _admitted(asked, client)
    except AskRefused as refused:
        return _told(_status_of(refused), *_words_of(refused))
    except ServerAway as trouble:
        return _told(AWAY, str(trouble))
    except (BadJobFile, ValueError) as trouble:
        return _told(BAD_INPUT, str(trouble))
    except RunrateError as trouble:
        return _told(AWAY, str(trouble))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**63):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the answer as the server gives it")
    parser.add_argument("--width", type=_number, help="columns; without it those of the terminal")


def _refuse_wrong_use(asked: argparse.Namespace) -> None:
    refuse: Callable[[str], NoReturn] = asked.refuse
    if (asked.job is None) == (asked.kept is None):
        refuse("say a file, or --kept with the number of a quote: one of them")
    by = asked.by_job if asked.by_job is not None else asked.by_run
    if (asked.take is None) != (by is None):
        refuse("--take goes with --job or --run: which offer was taken, and by what")


def _quoted(asked: argparse.Namespace, client: Client) -> int:
    if asked.kept is not None:
        document = client.get(f"quotes/{asked.kept}")
    else:
        job = quoted_job(read_job(asked.job), datetime.now(timezone.utc))
        _refuse_missing(job, ("gpus", "work"), asked.job)
        document = client.post("quotes", job)
    quote = read(Quote, document)
    if asked.take is not None:
        if asked.take > len(quote.offers):
            raise ValueError(
                f"--take {asked.take}: quote {quote.id} has {len(quote.offers)} offers"
            )
        key = quote.offers[asked.take - 1].key
        taken = {"offer": key, "job": asked.by_job, "run": asked.by_run}
        document = client.post(f"quotes/{quote.id}/taken", taken)
        quote = read(Quote, document)
    _print(asked, document, lambda width: quote_text(quote, width))
    return IN_TIME if quote.offers and quote.offers[0].is_in_time else NOT_IN_TIME


def _admitted(asked: argparse.Namespace, client: Client) -> int:
    job = admitted_job(read_job(asked.job))
    _refuse_missing(job, ("team", "gpus"), asked.job)
    document = client.post("admissions", job)
    admission = read(Admission, document)
    _print(asked, document, lambda width: admission_text(admission, width))
    return 0 if admission.overridden_at else VERDICT_STATUSES.get(admission.verdict, 1)


def _refuse_missing(job: Job, names: tuple[str, ...], path: str) -> None:
    """Before anybody is asked: the file's mistake, in the file's words."""
    missing = [name for name in names if name not in job]
    if missing:
        raise BadJobFile(
            f"{path}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        )


def _print(asked: argparse.Namespace, document: Document, text: Callable[[int], str]) -> None:
    if asked.json:
        sys.stdout.write(json.dumps(document) + "\n")
        return
    # A terminal of another encoding shows what it can.
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    sys.stdout.write(text(asked.width or shutil.get_terminal_size((WIDTH_OF_FILES, 24)).columns))


def _status_of(refused: AskRefused) -> int:
    return NO_RIGHT if refused.status in (401, 403) else BAD_INPUT


def _words_of(refused: AskRefused) -> list[str]:
    if refused.status in (401, 403):
        return [f"{refused.detail or refused.title} (RUNRATE_TOKEN)"]
    return [str(each) for each in refused.problems] or [refused.detail or refused.title]


def _told(status: int, *words: str) -> int:
    for line in words:
        sys.stderr.write(f"runrate: {line}\n")
    return status
