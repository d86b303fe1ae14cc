"""Correct what is on record of a pool."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError

from apps.economics.purchase import PurchaseOption
from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import pool_named, team_named

NOBODY = "-"


class Command(AnsweringCommand):
    """`manage.py correct_pool h100 --gpu-model "NVIDIA H200"`: for all of its time."""

    help = (
        "Correct what is on record of a pool; its hours are charged again. What is not said stays."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which pool, and what of it was wrong."""
        super().add_arguments(parser)
        parser.add_argument("pool", metavar="POOL")
        for name in ("provider", "region", "instance-type", "gpu-model"):
            parser.add_argument(f"--{name}")
        parser.add_argument("--gpus-per-node", type=int)
        parser.add_argument("--purchase-option", choices=[str(option) for option in PurchaseOption])
        parser.add_argument("--idle-sharing", choices=["keep", "by_held_time"])
        parser.add_argument("--owner-team", help=f"{NOBODY}: no team, so Platform pays")
        parser.add_argument("--note", default="", help="why; kept in the pool's history")

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Correct it."""
        pool, owner = pool_named(options["pool"]), options["owner_team"]
        changes = {
            name: options[name]
            for name in actions.OF_POOLS
            if name != "owner_team_id" and options[name] is not None
        }
        if owner is not None:
            changes["owner_team_id"] = None if owner == NOBODY else team_named(owner)
        if not changes:
            raise CommandError("say what of the pool is to be corrected")
        actions.correct_pool(pool_id=pool.id, changes=changes, at=at, note=options["note"])
        return {"id": pool.id}, f"Pool {pool.name} is corrected; its hours are charged again."
