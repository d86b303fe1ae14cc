"""Fill a simulated company through the doors that real ones use, settle it, and serve the console."""

import json
import os
import secrets
import socket
import sys
import tempfile
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from apps.accounts import actions as accounts
from apps.console.kit.filling import tell_filling
from apps.economics.hours import HOUR_MS, hour_of
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.ledger.queries.cube import CubeQuestion
from controlplane import processes
from controlplane.copies.standing import served
from controlplane.demo import scenes
from controlplane.demo.company import WEEK, Company
from controlplane.demo.database import MANAGES, SIGN_IN, DatabaseInUse, make_room
from controlplane.demo.doors import DemoRefused, Doors, Json
from controlplane.demo.fleet import Chapter, DemoSpan, confirm_most, fill, scenario
from controlplane.demo.telling import tell
from controlplane.demo.weeks import fill_weeks, settle_rest, work_out
from controlplane.ledger_audit import audit
from controlplane.settings import ENVIRONMENT, HOME

READY_SECONDS = 180
KEEP_WINDOW_DAYS = 100
MOST_WEEKS = 13


class Command(BaseCommand):
    """`manage.py demo`: the main job on 13 weeks of a simulated company."""

    help = "Fill a simulated company through the doors that real ones use, settle and serve it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How much of the demo to do, and how to print it."""
        parser.add_argument("--no-serve", action="store_true", help="end when it is settled")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")
        parser.add_argument("--listen", default=ENVIRONMENT.listen, help="host:port of the console")
        parser.add_argument(
            "--weeks",
            type=int,
            choices=range(1, MOST_WEEKS + 1),
            help="how many to fill (13, and 1 with --no-serve)",
        )
        parser.add_argument(
            "--fleet-only",
            metavar="TOKEN_FILE",
            help="only put the fleet on record and write the agent's tokens to this file",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make room; the last week, and serve it; then the weeks before it."""
        self.began, at = time.monotonic(), datetime.now(UTC)
        is_served = not options["no_serve"]
        chapters = _chapters(at)
        weeks = options["weeks"] or (MOST_WEEKS if is_served else 1)
        since = chapters[-1].span.ends_at - weeks * WEEK
        try:
            make_room(at)
        except DatabaseInUse as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["fleet_only"]:
            tokens = self._put_on_record(chapters, since)
            _write_private(Path(options["fleet_only"]), json.dumps(tokens))
            return
        # Windows of all weeks are taken, as by an installation that is that old.
        os.environ["RUNRATE_KEEP_WINDOW_DAYS"] = str(
            max(KEEP_WINDOW_DAYS, ENVIRONMENT.keep_window_days)
        )
        listen = options["listen"] if is_served else f"127.0.0.1:{_free_port()}"
        web = processes.web(ENVIRONMENT, listen)
        with processes.started(web), tempfile.TemporaryDirectory() as folder:
            tokens = self._put_on_record(chapters, since)
            doors = Doors(listen, tokens, Path(folder) / "tokens.json")
            _write_private(doors.token_file, json.dumps(tokens))
            company = Company(doors, chapters[-1].span, since, self._say)
            password = add_people()
            _wait_until_ready(listen)
            try:
                figures = self._last_week(company, chapters[-1])
                if is_served:
                    self._say_console(listen, password)
                    self._serve(web, company, chapters[0])
                    return
                self._earlier_weeks(company, chapters[0])
            except DemoRefused as refusal:
                raise CommandError(str(refusal)) from refusal
            figures |= _figures(company)
            figures["seconds"] = round(time.monotonic() - self.began, 1)
            self._tell(figures, as_json=options["json"])

    def _put_on_record(self, chapters: Sequence[Chapter], since: datetime) -> Json:
        self._say("Putting the fleet and its prices on record …")
        tokens = fill(chapters, since)
        call_command("load_price_table", verbosity=0)
        return tokens

    def _last_week(self, company: Company, chapter: Chapter) -> Json:
        """Through the ordinary doors; what was sent."""
        week = company.week
        self._say("Agents and schedulers are sending their last week …")
        sent = company.doors.simulate("demo", week.ends_at)
        confirm_most(week)
        scenes.play(scenes.OF_THE_WEEK, company)
        if company.has_history:
            scenes.play(scenes.BEFORE_SETTLING, company)
        self._say("Runs, services and gateways are telling what they did; settling …")
        tell(company, chapter.story, week)
        work_out(company, week)
        return {name: sent[name] for name in ("windows", "jobs")}

    def _earlier_weeks(self, company: Company, earlier: Chapter) -> None:
        """The weeks before, and what happened in them."""
        if not company.has_history:
            return
        self._say("The weeks before it, the latest first …")
        fill_weeks(company, earlier)
        self._say("What happened in them …")
        settle_rest()
        scenes.play(scenes.AFTER_THE_WEEKS, company)
        settle_rest()
        tell_filling(None)

    def _serve(self, web: processes.Child, company: Company, earlier: Chapter) -> None:
        """Agents go on sending while earlier weeks are filled in; then everything runs."""
        agents = processes.Child(
            "agents", company.doors.simulation("demo", company.week.ends_at, "--follow")
        )
        with processes.started(agents):
            try:
                self._earlier_weeks(company, earlier)
                self._tell(_figures(company), as_json=False)
                self._say("All weeks are there. Stop with Ctrl-C.")
            except Exception as trouble:  # noqa: BLE001 - what is there is served all the same
                tell_filling(None)
                self._say(f"No more is filled in: {trouble!r}. What is there is served on.")
            with served(HOME):
                processes.supervise(
                    [web, agents, processes.worker(ENVIRONMENT), processes.beat(ENVIRONMENT)]
                )

    def _say_console(self, listen: str, password: str) -> None:
        self._say(
            "The last week is settled.\n"
            f"\nConsole: http://{listen}\nSign in: {SIGN_IN}, or {MANAGES} who may change the fleet\n"
            f"Password: {password}\n"
        )

    def _tell(self, figures: Json, *, as_json: bool) -> None:
        if as_json:
            print(json.dumps(figures), flush=True)
            return
        for name, value in figures.items():
            self._say(f"  {name:16} {value}")

    def _say(self, sentence: str) -> None:
        """With how long it took until then."""
        print(f"{time.monotonic() - self.began:5.0f} s  {sentence}", file=sys.stderr, flush=True)


def _chapters(at: datetime) -> tuple[Chapter, Chapter]:
    """The weeks before the last, and the last, which ends with the last full hour."""
    earlier, story = scenario("history"), scenario("demo")
    ends_at = hour_of(at)
    starts_at = ends_at - timedelta(days=story["days"])
    return (
        Chapter(earlier, DemoSpan(starts_at - timedelta(days=earlier["days"]), starts_at, at)),
        Chapter(story, DemoSpan(starts_at, ends_at, at)),
    )


def add_people() -> str:
    """The people who may sign in: of finance, and of the platform; the password of both."""
    password = secrets.token_urlsafe(9)
    accounts.add_person(email=SIGN_IN, name="Finn (finance)", role="finance", password=password)
    accounts.add_person(email=MANAGES, name="Petra (platform)", role="platform", password=password)
    return password


def _figures(company: Company) -> Json:
    """What came out, read back from the database."""
    proof = audit()
    span = company.span
    last_day = span.ends_at.date() + timedelta(days=1)
    calendar = ledger.calendar_of("UTC", 1, span.at)
    window = ledger.window_of(f"{span.starts_at.date()}/{last_day}", calendar)
    (total,) = ledger.cost_groups(CubeQuestion(window))
    nodes = fleet.nodes_lived(span.starts_at, span.ends_at)
    return {
        "nodes": len(nodes),
        "gpus": sum(max(span.units for span in node.capacity_spans) for node in nodes),
        "gpu_hours": round(total.gpu_milliseconds / HOUR_MS, 6),
        "node_hours": proof.node_hours,
        "charges": proof.charges,
        "lines": proof.lines,
        "residual_micros": proof.residual_micros,
        "coverage": round(total.observed_milliseconds / total.held_milliseconds, 6),
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(listen: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"http://{listen}/readyz", timeout=2):
                return
        except OSError as trouble:
            if time.monotonic() > deadline:
                raise CommandError(f"the web server did not start: {trouble}") from trouble
            time.sleep(0.1)


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
