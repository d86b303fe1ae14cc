"""Fill a simulated company through the doors that real ones use, settle it, and serve the console."""

import json
import logging
import os
import secrets
import socket
import sys
import tempfile
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from apps.accounts import actions as accounts
from apps.console.kit.filling import announce_filling
from apps.economics.hours import HOUR_MS, hour_of
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.ledger.queries.cube import CubeQuestion
from controlplane import demo, processes
from controlplane.copies.standing import served
from controlplane.demo import scenes
from controlplane.demo.answers import MadeEarly, answer_again, answer_early
from controlplane.demo.company import WEEK, Company
from controlplane.demo.database import (
    MANAGES,
    SIGN_IN,
    DatabaseInUse,
    gained_facts,
    holds_demo,
    make_room,
)
from controlplane.demo.doors import DemoRefused, Doors, Json
from controlplane.demo.fleet import Chapter, DemoSpan, confirm_most, fill, scenario
from controlplane.demo.telling import tell
from controlplane.demo.weeks import WeekFiller, settle_rest, work_out
from controlplane.ledger_audit import audit
from controlplane.settings import ENVIRONMENT, HOME

log = logging.getLogger(__name__)
READY_SECONDS = 180
KEEP_WINDOW_DAYS = 100
PRICES = Path(demo.__file__).with_name("price_table.csv")
PRICES_LAST_DAYS = 36_500
MOST_WEEKS = 13
PROCESSES = 2
"""That settle the week for which people wait."""


class Command(BaseCommand):
    """`manage.py demo`: the main job on 13 weeks of a simulated company."""

    help = "Fill a simulated company through the doors that real ones use, settle and serve it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How much of the demo to do, and how to print it."""
        parser.add_argument("--no-serve", action="store_true", help="end when it is settled")
        parser.add_argument(
            "--fresh",
            action="store_true",
            help="empty an earlier demo to which people added something, and fill a new one",
        )
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
        if is_served:
            _see_that_it_is_free(options["listen"])
        gained = [] if options["fresh"] else gained_facts()
        if gained:
            self._go_on(gained, options)
            return
        chapters = _chapters(at)
        weeks = options["weeks"] or (MOST_WEEKS if is_served else 1)
        since = chapters[-1].span.ends_at - weeks * WEEK
        self._make_room(at, is_fresh=options["fresh"])
        if options["fleet_only"]:
            tokens = self._put_on_record(chapters, since)
            _write_private(Path(options["fleet_only"]), json.dumps(tokens))
            return
        _keep_windows()
        listen = options["listen"] if is_served else f"127.0.0.1:{_free_port()}"
        web = processes.web(ENVIRONMENT, listen)
        with processes.started(web), tempfile.TemporaryDirectory() as folder:
            tokens = self._put_on_record(chapters, since)
            doors = Doors(listen, tokens, Path(folder) / "tokens.json")
            _write_private(doors.token_file, json.dumps(tokens))
            company = Company(doors, chapters[-1].span, since, self._say)
            password = add_people()
            _wait_until_ready(web, listen)
            try:
                figures = self._last_week(company, chapters[-1])
                # Whoever started the demo waits for this week: nothing is told beside it.
                work_out(company, company.week, processes=PROCESSES)
                with WeekFiller(company, chapters[0]) as weeks:
                    if is_served:
                        self._say_console(listen, password)
                        self._serve(web, weeks)
                        return
                    self._earlier_weeks(weeks, is_watched=False)
            except DemoRefused as refusal:
                raise CommandError(str(refusal)) from refusal
            figures |= _figures(company)
            figures["seconds"] = round(time.monotonic() - self.began, 1)
            self._tell(figures, as_json=options["json"])

    def _go_on(self, gained: Sequence[str], options: Mapping[str, Any]) -> None:
        """Serve the demo that is here as it stands; a command that only fills one is refused."""
        here = (
            f"A demo is here, and people added to it since it was filled: {'; '.join(gained)}."
            " Nothing of it is emptied or filled in"
        )
        anew = "`manage.py demo --fresh` empties it and fills a new one"
        if options["no_serve"] or options["fleet_only"]:
            raise CommandError(f"{here}; {anew}.")
        listen = options["listen"]
        _keep_windows()
        self._say(
            f"{here}; it is served as it stands, and no agents send. {anew}.\n"
            f"\nConsole: http://{listen}\nSign in as before; `manage.py invite_person {SIGN_IN}"
            " --again` makes a link for a new password.\n"
        )
        web, beat = processes.web(ENVIRONMENT, listen), processes.beat(ENVIRONMENT)
        with served(HOME):
            processes.supervise([web, processes.workers(), beat])

    def _make_room(self, at: datetime, *, is_fresh: bool) -> None:
        if holds_demo():
            self._say("An earlier demo is here: it is emptied, and a new one is filled.")
        try:
            make_room(at, is_fresh=is_fresh)
        except DatabaseInUse as refusal:
            raise CommandError(str(refusal)) from refusal

    def _put_on_record(self, chapters: Sequence[Chapter], since: datetime) -> Json:
        self._say("Putting the fleet and its prices on record …")
        tokens = fill(chapters, since)
        call_command("load_price_table", file=PRICES, verbosity=0)
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
        return {name: sent[name] for name in ("windows", "jobs")}

    def _earlier_weeks(self, weeks: WeekFiller, *, is_watched: bool) -> None:
        """The weeks before, and what happened in them.

        Somebody who looks on has answers of two weeks first; they are made again when all are there.
        """
        company, early = weeks.company, None
        if not company.has_history:
            return
        weeks.tell_filling("are made in a moment")
        self._say("The week before it, and what stands on two weeks …")
        scenes.play(scenes.OF_TWO_WEEKS, company)
        weeks.fill_next()
        if is_watched and weeks.weeks:
            weeks.tell_filling("are being made of two weeks")
            early = answer_early(company)
            self._say("Every page has something. The weeks before these, the latest first …")
        while weeks.weeks:
            weeks.tell_filling(
                "are of two weeks so far" if early else "are made when all are there"
            )
            weeks.fill_next()
        self._say("What happened in them …")
        weeks.tell_filling("are being made of all weeks")
        settle_rest()
        scenes.play(scenes.OF_ALL_WEEKS, company)
        self._answer(company, early)
        scenes.play(scenes.AFTER_THE_WEEKS, company)
        settle_rest()
        announce_filling(None)

    def _answer(self, company: Company, early: MadeEarly | None) -> None:
        """What stands on all weeks; what was made of two is kept where somebody changed it."""
        if early is None:
            scenes.play(scenes.ANSWERS, company)
            return
        changed = answer_again(company, early)
        if changed:
            self._say(
                "Somebody changed what stands on two weeks meanwhile: it stays, and is not made"
                f" again of all of them ({', '.join(changed)})."
            )

    def _serve(self, web: processes.Child, weeks: WeekFiller) -> None:
        """Agents go on sending while earlier weeks are filled in; then everything runs."""
        company = weeks.company
        agents = processes.Child(
            "agents", company.doors.simulation("demo", company.week.ends_at, "--follow")
        )
        with processes.started(agents):
            try:
                self._earlier_weeks(weeks, is_watched=True)
                self._tell(_figures(company), as_json=False)
                self._say("All weeks are there. Stop with Ctrl-C.")
            except Exception as trouble:
                announce_filling(None)
                log.exception("demo_broken_off")
                self._say(f"No more is filled in: {trouble!r}. What is there is served on.")
            with served(HOME):
                processes.supervise([web, agents, processes.workers(), processes.beat(ENVIRONMENT)])

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
    nodes = fleet.nodes_alive_between(span.starts_at, span.ends_at)
    return {
        "nodes": len(nodes),
        "gpus": sum(max(span.units for span in node.capacity_spans) for node in nodes),
        "gpu_hours": round(total.sums.gpu_milliseconds / HOUR_MS, 6),
        "node_hours": proof.node_hours,
        "charges": proof.charges,
        "lines": proof.lines,
        "residual_micros": proof.residual_micros,
        "coverage": round(total.sums.observed_milliseconds / total.sums.held_milliseconds, 6),
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _keep_windows() -> None:
    """Have the processes that are started take and keep windows of all weeks, as an installation that is that old.

    The demo's prices are rows of its own, which nobody says again: they are used however old they are.
    """
    os.environ["RUNRATE_STALE_PRICE_DAYS"] = str(PRICES_LAST_DAYS)
    settings.STALE_PRICE_DAYS = PRICES_LAST_DAYS
    days = max(KEEP_WINDOW_DAYS, ENVIRONMENT.keep_window_days)
    os.environ["RUNRATE_KEEP_WINDOW_DAYS"] = str(days)


def _see_that_it_is_free(listen: str) -> None:
    """Refuses CommandError where another process listens, before anything is emptied."""
    host, _, port = listen.rpartition(":")
    try:
        with socket.create_server((host.strip("[]") or "127.0.0.1", int(port))):
            return
    except (OSError, ValueError) as trouble:
        raise CommandError(
            f"nobody can listen on {listen} ({trouble}): choose another by --listen HOST:PORT"
        ) from trouble


def _wait_until_ready(web: processes.Child, listen: str) -> None:
    """Refuses CommandError where the server has ended; what it left running may answer still."""
    deadline = time.monotonic() + READY_SECONDS
    trouble: OSError | None = None
    while time.monotonic() < deadline:
        code = web.process.poll() if web.process else None
        if code is not None:
            raise CommandError(f"the web server did not start: it ended with {code}")
        try:
            with urllib.request.urlopen(f"http://{listen}/readyz", timeout=2):
                return
        except OSError as problem:
            trouble = problem
            time.sleep(0.1)
    raise CommandError(f"the web server did not start: {trouble}")


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
