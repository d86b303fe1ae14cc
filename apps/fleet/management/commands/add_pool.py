"""Add a pool of nodes."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from apps.economics.purchase import PurchaseOption
from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import cluster_named, team_named


class Command(AnsweringCommand):
    """`manage.py add_pool h100 --provider aws --instance-type p5.48xlarge …`."""

    help = "Add a pool: nodes of one model, one price and one purchase option."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say what the pool's nodes have in common."""
        super().add_arguments(parser)
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--cluster")
        parser.add_argument("--provider", required=True, help="such as aws, gcp, own")
        parser.add_argument("--region", default="")
        parser.add_argument("--instance-type", default="")
        parser.add_argument("--gpu-model", default="", help="as NVML prints it")
        parser.add_argument(
            *("--gpus-per-node", "--cores-per-node"),
            dest="gpus_per_node",
            type=int,
            default=0,
            help="how many a node has of what --unit says",
        )
        parser.add_argument("--unit", default="gpu", choices=["gpu", "core"])
        parser.add_argument(
            "--purchase-option", required=True, choices=[str(option) for option in PurchaseOption]
        )
        parser.add_argument("--owner-team", help="who pays for time that no one held")
        parser.add_argument("--idle-sharing", default="keep", choices=["keep", "by_held_time"])

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Add it."""
        cluster, owner = options["cluster"], options["owner_team"]
        pool = actions.EnteredPool(
            name=options["name"],
            provider=options["provider"],
            purchase_option=options["purchase_option"],
            cluster_id=cluster_named(cluster) if cluster else None,
            region=options["region"],
            instance_type=options["instance_type"],
            gpu_model=options["gpu_model"],
            gpus_per_node=options["gpus_per_node"],
            unit=options["unit"],
            owner_team_id=team_named(owner) if owner else None,
            idle_sharing=options["idle_sharing"],
        )
        return {"id": actions.add_pool(pool=pool, at=at)}, f"Pool {pool.name} added."
