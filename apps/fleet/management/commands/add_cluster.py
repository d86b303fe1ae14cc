"""Add a cluster."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError

from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand


class Command(AnsweringCommand):
    """`manage.py add_cluster atlas --kind slurm`."""

    help = "Add a cluster: one scheduler's domain, in which names of nodes and jobs are unique."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Its name, and which scheduler it has."""
        super().add_arguments(parser)
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--kind", default="other", choices=["slurm", "kubernetes", "other"])

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Add it."""
        name = options["name"].strip()
        if not name:
            raise CommandError("NAME: is empty")
        cluster_id = actions.add_cluster(name=name, kind=options["kind"], at=at)
        return {"id": cluster_id}, f"Cluster {name} added."
