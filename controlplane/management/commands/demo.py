"""Fill a simulated fleet through the real endpoint, settle it, and serve the console."""

import contextlib
import dataclasses
import json
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from apps.accounts import actions as accounts
from apps.economics.hours import HOUR_MS, hour_of
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.tasks import price_calls
from apps.workloads.tasks import fold_runs
from controlplane import processes
from controlplane.demo import money
from controlplane.demo.database import BILL, SIGN_IN, DatabaseInUse, make_room
from controlplane.demo.fleet import DemoSpan, Table, confirm_most, fill, scenario
from controlplane.demo.telling import tell
from controlplane.ledger_audit import audit
from controlplane.settings import ENVIRONMENT

READY_SECONDS = 180


class Command(BaseCommand):
    """`manage.py demo`: the main job on a week of a simulated fleet."""

    help = "Fill a simulated fleet through the real endpoint, settle it and serve the console."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How much of the demo to do, and how to print it."""
        parser.add_argument("--no-serve", action="store_true", help="end when it is settled")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")
        parser.add_argument("--listen", default=ENVIRONMENT.listen, help="host:port of the console")
        parser.add_argument(
            "--fleet-only",
            metavar="TOKEN_FILE",
            help="only put the fleet on record and write the agent's tokens to this file",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make room, fill, play, settle, and serve."""
        started = time.monotonic()
        at = datetime.now(UTC)
        story = scenario("demo")
        ends_at = hour_of(at)
        span = DemoSpan(ends_at - timedelta(days=story["days"]), ends_at, at)
        try:
            make_room(at)
        except DatabaseInUse as refusal:
            raise CommandError(str(refusal)) from refusal
        self._say("Putting the fleet and its prices on record …")
        tokens = fill(story, span)
        call_command("load_price_table", verbosity=0)
        if options["fleet_only"]:
            _write_private(Path(options["fleet_only"]), json.dumps(tokens))
            return
        password = secrets.token_urlsafe(9)
        accounts.add_person(email=SIGN_IN, name="Finn (finance)", role="finance", password=password)
        sent = self._play(story, tokens, span)
        confirm_most(span)
        money.buy(span)
        money.share(span)
        self._say("Folding the reports of runs and pricing API calls …")
        fold_runs()
        price_calls()
        self._say("Settling …")
        self._settle(span)
        self._say("The cloud's bill of the first days comes in …")
        self._take_bill(span)
        figures = _figures(span, sent)
        figures["seconds"] = round(time.monotonic() - started, 1)
        self._tell(figures, as_json=options["json"])
        if not options["no_serve"]:
            self._serve(options["listen"], password)

    def _settle(self, span: DemoSpan) -> None:
        with contextlib.redirect_stdout(sys.stderr):
            # Not the running hour: the same week gives the same totals whenever it is played.
            call_command("settle", starts_at=span.starts_at, ends_at=span.ends_at)

    def _take_bill(self, span: DemoSpan) -> None:
        """Through the ordinary import, with the rows it cannot place, and into the ledger."""
        with tempfile.TemporaryDirectory() as folder:
            bill = Path(folder) / BILL
            money.write_bill(span, bill)
            with contextlib.redirect_stdout(sys.stderr):
                call_command("import_focus", str(bill))
        with contextlib.redirect_stdout(sys.stderr):
            call_command("reconcile_bills")
        self._settle(span)

    def _play(self, story: Table, tokens: dict[str, Any], span: DemoSpan) -> dict[str, Any]:
        """Run the agent's simulation as a process of its own against a web server of our own."""
        listen = f"127.0.0.1:{_free_port()}"
        web = processes.web(dataclasses.replace(ENVIRONMENT, web_processes=1), listen)
        with processes.started(web), tempfile.TemporaryDirectory() as folder:
            _wait_until_ready(listen)
            token_file = Path(folder) / "tokens.json"
            _write_private(token_file, json.dumps(tokens))
            self._say("Agents and schedulers are sending their week …")
            played = subprocess.run(
                [
                    str(Path(sys.executable).with_name("runrate-agent")), "simulate", "demo",
                    "--server", f"http://{listen}", "--token-file", str(token_file),
                    "--ends-at", span.ends_at.isoformat(), "--json",
                ],
                stdout=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            if played.returncode:
                raise CommandError("the simulated agents could not deliver; see above")
            self._say("Runs, services and gateways are telling what they did …")
            tell(listen, story, tokens, span)
        sent: dict[str, Any] = json.loads(played.stdout.splitlines()[-1])
        return sent

    def _tell(self, figures: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            print(json.dumps(figures), flush=True)
            return
        for name, value in figures.items():
            self._say(f"  {name:16} {value}")

    def _serve(self, listen: str, password: str) -> None:
        self._say(f"\nConsole: http://{listen}\nSign in: {SIGN_IN}\nPassword: {password}\n")
        call_command("up", listen=listen)

    def _say(self, sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)


def _figures(span: DemoSpan, sent: dict[str, Any]) -> dict[str, Any]:
    """What was put in and what came out, read back from the database."""
    proof = audit()
    last_day = span.ends_at.date() + timedelta(days=1)
    calendar = ledger.calendar_of("UTC", 1, span.at)
    week = ledger.window_of(f"{span.starts_at.date()}/{last_day}", calendar)
    (total,) = ledger.cost_groups(CubeQuestion(week))
    nodes = fleet.nodes_lived(span.starts_at, span.ends_at)
    return {
        "nodes": len(nodes),
        "gpus": sum(max(span.units for span in node.capacity_spans) for node in nodes),
        "windows": sent["windows"],
        "jobs": sent["jobs"],
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
