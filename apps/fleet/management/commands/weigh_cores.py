"""Say what a core of a pool's nodes counts against one of their GPUs."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.economics.typed import parse_moment
from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import pool_named


class Command(AnsweringCommand):
    """`manage.py weigh_cores h100 0.05 --cores 128 --from 2026-11-01`: 20 cores are one GPU."""

    help = "Say what a core counts against a GPU; without it a node's GPUs carry all of its cost."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Of which pool, how much, and from when on."""
        super().add_arguments(parser)
        parser.add_argument("pool", metavar="POOL")
        parser.add_argument(
            "weight", metavar="WEIGHT", type=_parse_weight, help="of a core; a GPU is 1"
        )
        parser.add_argument("--cores", type=int, default=0, help="how many a node has")
        parser.add_argument("--from", dest="from_at", type=parse_moment, required=True)

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Keep it."""
        pool = pool_named(options["pool"])
        version = actions.weigh_cores(
            pool_id=pool.id,
            cores_per_node=options["cores"],
            weight=options["weight"],
            from_at=options["from_at"],
            at=at,
        )
        message = f"{pool.name}: version {version} of what carries its nodes' cost."
        return {"version": version}, message


def _parse_weight(text: str) -> Decimal:
    try:
        weight = Decimal(text)
    except InvalidOperation:
        weight = Decimal("nan")
    if not weight.is_finite() or weight != round(weight, 6) or abs(weight) >= 10**6:
        raise ArgumentTypeError(f"{text!r} is not a weight such as 0.05, of at most six decimals")
    return weight
