"""End a node."""

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.fleet import actions
from apps.fleet.management.named import living_node, moment


class Command(BaseCommand):
    """`manage.py end_node gpu-01 --at 2026-11-20T14:00Z`: it costs nothing from then on."""

    help = "Say that a node is gone; it is charged up to then, and silence alone never ends it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which node, since when, and why."""
        parser.add_argument("node", metavar="NODE", help="NAME or CLUSTER/NAME")
        parser.add_argument("--at", dest="ended_at", type=moment, required=True)
        parser.add_argument("--reason", default="ended by hand")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """End it, or say why not."""
        at = timezone.now()
        node_id = living_node(options["node"], at)
        ended_at: datetime = options["ended_at"]
        if ended_at > at:
            raise CommandError("--at: lies in the future")
        try:
            actions.end_node(node_id=node_id, ended_at=ended_at, reason=options["reason"], at=at)
        except actions.NodeEndsBeforeItStarts as refusal:
            raise CommandError(f"--at: {refusal}") from refusal
        said = f"{options['node']} ended at {ended_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
        self.stdout.write(json.dumps({"id": node_id}) if options["json"] else said)
