"""The `runrate` program."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from runrate.asking import AskingParser, add_asking, ask
from runrate.wrapping import wrap


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; answers the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    ours, command = (given, []) if "--" not in given else _cut(given)
    parser = _parser()
    asked, others = parser.parse_known_args(ours)
    if others:
        getattr(asked, "refuse", parser.error)(f"unrecognized arguments: {' '.join(others)}")
    if asked.command != "wrap":
        return ask(asked)
    if not command:
        parser.error("say what to run after --, as in: runrate wrap -- torchrun train.py")
    try:
        own = re.compile(asked.line) if asked.line else None
    except re.error as trouble:
        parser.error(f"--line: {trouble}")
    if own is not None and "step" not in own.groupindex:
        parser.error("--line: the pattern needs a group named step, as in (?P<step>[0-9]+)")
    return wrap(command, workload=asked.workload, name=asked.name, own=own)


def _cut(given: Sequence[str]) -> tuple[list[str], list[str]]:
    place = list(given).index("--")
    return list(given[:place]), list(given[place + 1 :])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="runrate", description="Report what a training run did, and ask where a job is to run."
    )
    commands = parser.add_subparsers(dest="command", required=True, parser_class=AskingParser)
    add_asking(commands.add_parser)
    wrapping = commands.add_parser(
        "wrap",
        help="run a program and report what its log says of its steps",
        description="torchtitan, Megatron and nanotron are understood; others by --line. Where to"
        " report to is in RUNRATE_URL and RUNRATE_TOKEN.",
    )
    wrapping.add_argument("--workload", default="", help="the workload the run belongs to")
    wrapping.add_argument("--name", default="", help="the run, known by it across restarts")
    wrapping.add_argument(
        "--line",
        default="",
        metavar="REGEX",
        help="a pattern with the group step, and seconds, tokens, tokens_per_second or examples",
    )
    return parser
