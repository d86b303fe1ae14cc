"""End nodes."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError

from apps.economics.typed import parse_moment
from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import live_node_id, pool_named
from apps.fleet.queries import nodes_without_end


class Command(AnsweringCommand):
    """`manage.py end_node gpu-01 gpu-02 --at 2026-11-20T14:00Z`: they cost nothing from then on."""

    help = "Say that nodes are gone; they are charged up to then, and silence alone never ends one."

    options_of = {"ended_at": "--at"}

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which nodes, since when, and why."""
        super().add_arguments(parser)
        parser.add_argument("nodes", metavar="NODE", nargs="*", help="NAME or CLUSTER/NAME")
        parser.add_argument("--pool", help="every node of it that lives at that moment")
        parser.add_argument("--at", dest="ended_at", type=parse_moment, required=True)
        parser.add_argument("--reason", default="ended by hand")

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """End them, all or none."""
        ended_at: datetime = options["ended_at"]
        if ended_at > at:
            raise CommandError("--at: lies in the future")
        if bool(options["nodes"]) == bool(options["pool"]):
            raise CommandError("name the nodes that are gone, or give --pool")
        names: list[str] = options["nodes"]
        ids = [live_node_id(name, at) for name in names]
        if options["pool"]:
            ids = _live_node_ids(options["pool"], ended_at)
        actions.end_nodes(node_ids=ids, ended_at=ended_at, reason=options["reason"], at=at)
        which = names[0] if len(names) == 1 else f"{len(ids)} nodes"
        message = f"{which} ended at {ended_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
        return {"id": ids[0]} if len(names) == 1 else {"ids": ids}, message


def _live_node_ids(pool_name: str, at: datetime) -> list[int]:
    """The nodes of the pool that began before `at` and have no end; refuses CommandError."""
    pool = pool_named(pool_name)
    ids = nodes_without_end(pool.id, at)
    if not ids:
        raise CommandError(f"no node of {pool_name!r} lives then")
    return ids
