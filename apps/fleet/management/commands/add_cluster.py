"""Add a cluster."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.fleet import actions


class Command(BaseCommand):
    """`manage.py add_cluster atlas --kind slurm`."""

    help = "Add a cluster: one scheduler's domain, in which names of nodes and jobs are unique."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Its name, and which scheduler it has."""
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--kind", default="other", choices=["slurm", "kubernetes", "other"])
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add it, or say why not."""
        name = options["name"].strip()
        if not name:
            raise CommandError("NAME: is empty")
        try:
            cluster_id = actions.add_cluster(name=name, kind=options["kind"], at=timezone.now())
        except actions.ClusterNameTaken as refusal:
            raise CommandError(str(refusal)) from refusal
        said = json.dumps({"id": cluster_id}) if options["json"] else f"Cluster {name} added."
        self.stdout.write(said)
