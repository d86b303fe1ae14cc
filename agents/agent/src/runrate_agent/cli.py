"""The command line of the node agent."""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from runrate_agent.arguments import HOUR_MS, at_least_one, hour_ms
from runrate_agent.settings import DEFAULT_PATH, SettingsRefused, file_to_begin_with, settings_in
from runrate_agent.tokens import TokenFileUnreadable
from runrate_agent.uplink import UplinkFailed, server_at

MINUTE_MS = 60_000
REPORTED = ("nodes", "devices", "windows", "batches", "jobs", "rejected")
Command = Callable[[argparse.Namespace], int]


class CommandRefused(Exception):
    """What a command says where it cannot go on."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 where it did what it is for."""
    options = _parser().parse_args(arguments)
    command: Command = options.command
    try:
        return command(options)
    except (CommandRefused, SettingsRefused, TokenFileUnreadable, UplinkFailed) as refusal:
        _say(str(refusal))
        return 1
    except KeyboardInterrupt:
        _say("stopped")
        return 130


def _run(options: argparse.Namespace) -> int:
    """Measure and send until told to stop."""
    from runrate_agent.health import Health
    from runrate_agent.holding import FolderTaken, hold_folder
    from runrate_agent.making import agent_of
    from runrate_agent.running import heed_signals

    settings = settings_in(options.config)
    if server_at(settings.server.url).is_in_clear:
        _say(f"{settings.server.url} is not https: the token can be read on the way")
    try:
        hold_folder(Path(settings.spool.folder))
    except FolderTaken as taken:
        raise CommandRefused(str(taken)) from taken
    agent = agent_of(settings, version("runrate-agent"))
    agent.start(time.time_ns() // 1_000_000)
    heed_signals(agent)
    threads = (
        [] if agent.notices is None else [threading.Thread(target=agent.notices.run, daemon=True)]
    )
    if settings.health.listen:
        try:
            health = Health(settings.health.listen, agent.figures, agent.problems)
        except OSError as refused:
            raise CommandRefused(
                f"cannot listen on {settings.health.listen}: {refused}"
            ) from refused
        threads.append(threading.Thread(target=health.run, daemon=True))
    for thread in threads:
        thread.start()
    agent.run()
    return 0


def _once(options: argparse.Namespace) -> int:
    """Measure one span and print it instead of sending it."""
    from runrate_agent.folding import Folding, Window
    from runrate_agent.making import holders_of, source_of

    settings = settings_in(options.config)
    holders = holders_of(settings)
    source = source_of(settings, holders)
    folding = Folding(settings.source.window_seconds, holders)
    until = time.monotonic() + options.seconds
    windows: list[Window] = []
    try:
        while time.monotonic() < until:
            frame = source.frame()
            holders.refresh(time.time_ns() // 1_000_000)
            if frame is not None and frame.devices:
                windows = folding.add(frame)
                break
    finally:
        source.close()
    last = folding.flush()
    rows = [row for each in [*windows, last] if each is not None for row in each.rows]
    if not rows:
        raise CommandRefused(f"nothing was measured: {source.name} is {source.state}")
    for uuid, key, values in rows:
        known = {name: value for name, value in values.items() if value is not None}
        print(json.dumps({"device": uuid, "holder": key, **known}))
    return 0


def _check(options: argparse.Namespace) -> int:
    """Say what works on this node, as the unit's user sees it; 1 where something is wrong."""
    if options.proof is not None:
        return _prove(options)
    from runrate_agent.checking import BAD
    from runrate_agent.looking import looked_around, seen_here

    is_well = True
    for finding in (
        seen_here(options.config, options.here) if options.here else looked_around(options.config)
    ):
        is_well = is_well and finding.grade != BAD
        if options.json:
            print(json.dumps(dataclasses.asdict(finding)), flush=True)
        else:
            said = f"{finding.said}  [as {finding.viewer}]"
            print(f"{finding.grade:6} {finding.subject:11} {said}", flush=True)
    return 0 if is_well else 1


def _prove(options: argparse.Namespace) -> int:
    """Write what the driver answers and what the agent makes of it; 1 where no GPU was measured."""
    from runrate_agent.proof import ProofAsked, prove

    asked = ProofAsked(
        config=options.config,
        file=options.proof,
        seconds=options.seconds,
        python=options.torch,
        say=_say,
    )
    try:
        is_measured = prove(asked)
    except OSError as refused:
        raise CommandRefused(f"cannot write {options.proof}: {refused}") from refused
    size = options.proof.stat().st_size
    _say(f"{options.proof} is written ({size:,} bytes); its first lines say what is in it")
    return 0 if is_measured else 1


def _file(options: argparse.Namespace) -> int:
    """Print a file to install beside the agent: a unit of systemd, a hook of Slurm."""
    from runrate_agent.beside import files_beside, text_beside

    if options.name is None:
        print("\n".join(sorted(files_beside())))
        return 0
    try:
        sys.stdout.write(text_beside(options.name))
    except KeyError as unknown:
        there = ", ".join(sorted(files_beside()))
        raise CommandRefused(f"there is no file {options.name}; there are {there}") from unknown
    return 0


def _enrol(options: argparse.Namespace) -> int:
    """Exchange a one-time token, or a join token, for this agent's own."""
    from runrate_agent.enrolling import enrol
    from runrate_agent.making import node_name

    settings = settings_in(options.config)
    invitation = (
        options.token_file.read_text().strip()
        if options.token_file
        else sys.stdin.readline().strip()
    )
    if not invitation:
        raise CommandRefused("no invitation: give --token-file, or the token on standard input")
    node = enrol(settings, invitation, node_name(), version("runrate-agent"))
    _say(f"enrolled as {node}; the token is in {settings.server.token_file}")
    return 0


def _slurm_cache(options: argparse.Namespace) -> int:
    """Keep the file that the Slurm controller's job_submit.lua decides by."""
    from runrate_agent.slurm_cache import keep_refreshed, keeper_of

    settings = settings_in(options.config)
    keeper = keeper_of(settings)
    stopped = threading.Event()
    try:
        if options.once:
            keeper.refresh()
        else:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: stopped.set())
            keep_refreshed(keeper, settings.slurm.refresh_seconds, stopped)
    except OSError as refused:
        raise CommandRefused(f"cannot write {keeper.path}: {refused}") from refused
    finally:
        keeper.uplink.close()
    return 0


def _settings(options: argparse.Namespace) -> int:
    """Print every setting with its default and meaning."""
    sys.stdout.write(file_to_begin_with())
    return 0


def _bench(options: argparse.Namespace) -> int:
    """Measure what the agent itself costs, on whatever driver is there."""
    from runrate_agent.measuring import measured

    figures = measured(
        seconds=options.seconds, driver_folder=options.driver_folder, gpus=options.gpus
    )
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value}")
    return 0


def _simulate(options: argparse.Namespace) -> int:
    """Play a scenario against a server."""
    from runrate_agent.simulation.playing import PARTS, Play, follow, play
    from runrate_agent.simulation.scenario import scenario_named
    from runrate_agent.simulation.table import ScenarioUnreadable
    from runrate_agent.tokens import tokens_in
    from runrate_agent.uplink import Patience

    started = time.monotonic()
    now_ms = time.time_ns() // 1_000_000
    server = server_at(options.server)
    if server.is_in_clear:
        _say(f"{server.url} is not https: the token can be read on the way")
    ends_at_ms = now_ms // HOUR_MS * HOUR_MS if options.ends_at is None else options.ends_at
    try:
        scenario = scenario_named(options.scenario)
        begins, ends = (round(hours * 60) for hours in options.hours or (0, scenario.minutes / 60))
        this = Play(
            scenario=scenario,
            server=server,
            tokens=tokens_in(options.token_file, scenario.clusters),
            patience=Patience(seconds=options.patience_seconds, say=_say),
            starts_at_ms=ends_at_ms - scenario.minutes * MINUTE_MS,
            boot_ms=now_ms,
            version=version("runrate-agent"),
            in_flight=options.in_flight,
            window_minutes=options.window_minutes,
            minutes=range(begins, ends),
        )
        sent = play(this, () if options.follow else options.only or PARTS)
        if options.follow:
            follow(this, lambda: time.time_ns() // 1_000_000, threading.Event().wait)
    except ScenarioUnreadable as refusal:
        raise CommandRefused(str(refusal)) from refusal
    report: dict[str, float] = {name: sent[name] for name in REPORTED}
    report["seconds"] = round(time.monotonic() - started, 1)
    if options.json:
        sys.stdout.write(json.dumps(report) + "\n")
    else:
        _say(", ".join(f"{name} {value}" for name, value in report.items()))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="runrate-agent", description=__doc__)
    parser.add_argument("--version", action="version", version=version("runrate-agent"))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in {"run": _run, "once": _once, "check": _check, "enrol": _enrol}.items():
        made = commands.add_parser(name, help=_help(command))
        made.add_argument("--config", type=Path, default=DEFAULT_PATH, help=f"({DEFAULT_PATH})")
        made.set_defaults(command=command)
        if name == "once":
            made.add_argument("--seconds", type=float, default=30, help="at most (30)")
        if name == "check":
            _add_check(made)
        if name == "enrol":
            made.add_argument("--token-file", type=Path, help="else from standard input")
    cache = commands.add_parser("slurm-cache", help=_help(_slurm_cache))
    cache.add_argument("--config", type=Path, default=DEFAULT_PATH, help=f"({DEFAULT_PATH})")
    cache.add_argument("--once", action="store_true", help="ask the server once; 1 where it fails")
    cache.set_defaults(command=_slurm_cache)
    commands.add_parser("settings", help=_help(_settings)).set_defaults(command=_settings)
    file = commands.add_parser("file", help=_help(_file))
    file.add_argument("name", nargs="?", metavar="NAME", help="which; without it their names")
    file.set_defaults(command=_file)
    _add_bench(commands)
    _add_simulate(commands)
    return parser


def _add_check(check: argparse.ArgumentParser) -> None:
    check.add_argument("--json", action="store_true", help="a line of JSON a finding")
    check.add_argument(
        "--here",
        nargs="?",
        const="runrate-agent.service",
        choices=("runrate-agent.service", "runrate-slurm-cache.service"),
        help="look as whoever runs this, not as the unit's user; for which unit",
    )
    check.add_argument(
        "--proof",
        nargs="?",
        const=Path("runrate-proof.json"),
        type=Path,
        metavar="FILE",
        help="write all that the driver answers, and some minutes of windows, into a file to send "
        "(runrate-proof.json)",
    )
    check.add_argument(
        "--seconds", type=at_least_one, default=120, help="of windows in a proof (120)"
    )
    check.add_argument("--torch", default="", metavar="PYTHON", help="a Python that has torch")


def _add_bench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    bench = commands.add_parser("bench", help=_help(_bench))
    bench.add_argument("--seconds", type=at_least_one, default=60, help="how long to measure (60)")
    bench.add_argument("--gpus", type=at_least_one, default=8, help="of a driver made up (8)")
    bench.add_argument(
        "--driver-folder",
        type=Path,
        help="where another libnvidia-ml.so.1 lies (the machine's own)",
    )
    bench.add_argument("--json", action="store_true", help="one line of JSON at the end")
    bench.set_defaults(command=_bench)


def _add_simulate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    simulate = commands.add_parser("simulate", help=_help(_simulate))
    simulate.set_defaults(command=_simulate)
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
        type=hour_ms,
        help="full hour at which the scenario ends, ISO 8601 or epoch seconds (default: the last)",
    )
    simulate.add_argument(
        "--in-flight", type=at_least_one, default=3, help="batches on their way at once (3)"
    )
    simulate.add_argument(
        "--patience-seconds",
        type=float,
        default=60,
        help="before an absent server is given up (60)",
    )
    simulate.add_argument(
        "--only", action="append", choices=("jobs", "windows"), help="leave the other out"
    )
    simulate.add_argument(
        "--hours",
        nargs=2,
        type=float,
        metavar=("FROM", "TO"),
        help="only what lives in these hours of the scenario's clock",
    )
    simulate.add_argument(
        "--window-minutes",
        type=int,
        choices=range(1, 6),
        default=1,
        help="length of the windows (1)",
    )
    simulate.add_argument(
        "--follow",
        action="store_true",
        help="send what comes after the scenario's end, as time passes, until stopped",
    )
    simulate.add_argument("--json", action="store_true", help="one line of JSON at the end")


def _help(command: Command) -> str:
    return (command.__doc__ or "").rstrip(".")


def _say(message: str) -> None:
    sys.stderr.write(f"runrate-agent: {message}\n")
