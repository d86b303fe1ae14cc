"""Add nodes to a pool."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from apps.economics.typed import parse_moment
from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import pool_named


class Command(AnsweringCommand):
    """`manage.py add_nodes h100 gpu-01 gpu-02 --from 2026-11-01`: all of them, or none."""

    help = (
        "Add nodes to a pool; each is charged from its start to --to, or until something ends it."
    )

    options_of = {"ended_at": "--to"}

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which nodes, and since when."""
        super().add_arguments(parser)
        parser.add_argument("pool", metavar="POOL")
        parser.add_argument("names", metavar="NAME", nargs="+")
        parser.add_argument("--from", dest="started_at", type=parse_moment, required=True)
        parser.add_argument(
            "--to", dest="ended_at", type=parse_moment, help="where they ended already"
        )
        parser.add_argument("--reason", default="ended before it was added", help="why, with --to")
        parser.add_argument(
            "--provider-id",
            dest="provider_ids",
            action="append",
            default=[],
            metavar="[NAME=]ID",
            help="what the provider calls a node, as i-0abc or as Kubernetes spells it; NAME= of several",
        )
        parser.add_argument("--units", type=int, help="GPUs or cores (default: the pool's)")

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Add them."""
        ids_by_name = _provider_ids(options["provider_ids"], options["names"])
        pool, ended_at = pool_named(options["pool"]), options["ended_at"]
        if ended_at is not None and ended_at > at:
            raise CommandError("--to: lies in the future")
        with transaction.atomic():
            ids = {
                name: actions.add_node(
                    node=actions.NewNode(
                        name=name,
                        pool_id=pool.id,
                        started_at=options["started_at"],
                        units=options["units"] or pool.gpus_per_node,
                        cluster_id=pool.cluster_id,
                        provider_id=ids_by_name.get(name, ""),
                        ended_at=ended_at,
                        end_reason=options["reason"] if ended_at else "",
                    ),
                    at=at,
                )
                for name in options["names"]
            }
        return ids, f"{len(ids)} nodes added to {pool.name}."


def _provider_ids(entries: list[str], names: list[str]) -> dict[str, str]:
    """Ids by the names of nodes; one alone may be said without its name. Refuses CommandError."""
    if len(names) == 1 and len(entries) == 1 and not entries[0].startswith(f"{names[0]}="):
        return {names[0]: entries[0]}
    ids_by_name: dict[str, str] = {}
    for entry in entries:
        name, separator, provider_id = entry.partition("=")
        if not separator or not provider_id or name not in names or name in ids_by_name:
            raise CommandError(
                f"--provider-id: {entry!r} is no NAME=ID, once for a node that is added"
            )
        ids_by_name[name] = provider_id
    return ids_by_name
