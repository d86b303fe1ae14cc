"""The command line: `runrate-agent simulate` plays a scenario against a server."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from runrate_agent.simulation.playing import Play, play
from runrate_agent.simulation.scenario import scenario_named
from runrate_agent.simulation.table import ScenarioUnreadable
from runrate_agent.tokens import TokenFileUnreadable, tokens_in
from runrate_agent.uplink import Patience, UplinkFailed, server_at

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
REPORTED = ("nodes", "devices", "windows", "batches", "jobs", "rejected")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    started = time.monotonic()
    try:
        sent = play(_play(options))
    except (ScenarioUnreadable, TokenFileUnreadable, UplinkFailed) as refusal:
        _say(str(refusal))
        return 1
    except KeyboardInterrupt:
        _say("stopped")
        return 130
    report: dict[str, float] = {name: sent[name] for name in REPORTED}
    report["seconds"] = round(time.monotonic() - started, 1)
    if options.json:
        sys.stdout.write(json.dumps(report) + "\n")
    else:
        _say(", ".join(f"{name} {value}" for name, value in report.items()))
    return 0


def _play(options: argparse.Namespace) -> Play:
    now_ms = time.time_ns() // 1_000_000
    scenario = scenario_named(options.scenario)
    server = server_at(options.server)
    if server.is_in_clear:
        _say(f"{server.url} is not https: the token can be read on the way")
    ends_at_ms = now_ms // HOUR_MS * HOUR_MS if options.ends_at is None else options.ends_at
    return Play(
        scenario=scenario,
        server=server,
        tokens=tokens_in(options.token_file, scenario.clusters),
        patience=Patience(seconds=options.patience_seconds, say=_say),
        starts_at_ms=ends_at_ms - scenario.minutes * MINUTE_MS,
        boot_ms=now_ms,
        version=version("runrate-agent"),
        in_flight=options.in_flight,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="runrate-agent", description=__doc__)
    parser.add_argument("--version", action="version", version=version("runrate-agent"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    simulate = commands.add_parser("simulate", help="play a scenario against a server")
    simulate.add_argument("scenario", metavar="SCENARIO", help='"demo", or the path of a TOML file')
    simulate.add_argument("--server", required=True, help="address of the Runrate server")
    simulate.add_argument(
        "--token-file",
        required=True,
        type=Path,
        help='a token; or JSON, {"jobs": …, "nodes": {"gpu-01": …}}',
    )
    simulate.add_argument(
        "--ends-at",
        type=_hour_ms,
        help="full hour at which the scenario ends, ISO 8601 or epoch seconds (default: the last)",
    )
    simulate.add_argument(
        "--in-flight", type=_at_least_one, default=3, help="batches on their way at once (3)"
    )
    simulate.add_argument(
        "--patience-seconds",
        type=float,
        default=60,
        help="before an absent server is given up (60)",
    )
    simulate.add_argument("--json", action="store_true", help="one line of JSON at the end")
    return parser


def _hour_ms(text: str) -> int:
    """A moment that is a full hour; a time without a zone is UTC."""
    try:
        moment = (
            datetime.fromtimestamp(float(text), tz=UTC)
            if text.replace(".", "", 1).isdigit()
            else datetime.fromisoformat(text)
        )
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: {error}") from error
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    milliseconds = round(aware.timestamp() * 1000)
    if milliseconds % HOUR_MS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a full hour")
    return milliseconds


def _at_least_one(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("expected 1 or more")
    return int(text)


def _say(message: str) -> None:
    sys.stderr.write(f"runrate-agent: {message}\n")
