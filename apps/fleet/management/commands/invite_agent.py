"""Invite an agent to a node."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.fleet import actions
from apps.fleet.management.named import living_node


class Command(BaseCommand):
    """`manage.py invite_agent gpu-01`: a one-time token, which the agent trades for its own."""

    help = "Make a one-time token with which one agent may enrol for a node."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which node, and for how long."""
        parser.add_argument("node", metavar="NODE", help="NAME or CLUSTER/NAME")
        parser.add_argument("--expires-hours", type=float, default=24)
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Invite, or say why not."""
        at = timezone.now()
        expires_at = at + timedelta(hours=options["expires_hours"])
        try:
            secret = actions.invite_agent(
                node_id=living_node(options["node"], at), expires_at=expires_at, at=at
            )
        except actions.InvitationExpiresInThePast as refusal:
            raise CommandError(f"--expires-hours: {refusal.message}") from refusal
        if options["json"]:
            answer = {"token": secret, "expires_at": expires_at.isoformat()}
            self.stdout.write(json.dumps(answer))
        else:
            self.stdout.write(secret)
