"""Invite an agent to a node."""

from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import live_node_id


class Command(AnsweringCommand):
    """`manage.py invite_agent gpu-01`: a one-time token, which the agent trades for its own."""

    help = "Make a one-time token with which one agent may enrol for a node."

    options_of = {"expires_at": "--expires-hours"}

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which node, and for how long."""
        super().add_arguments(parser)
        parser.add_argument("node", metavar="NODE", help="NAME or CLUSTER/NAME")
        parser.add_argument("--expires-hours", type=float, default=24)

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Invite; the sentence is the token alone, for whoever pipes it on."""
        expires_at = at + timedelta(hours=options["expires_hours"])
        secret = actions.invite_agent(
            node_id=live_node_id(options["node"], at), expires_at=expires_at, at=at
        )
        return {"token": secret, "expires_at": expires_at.isoformat()}, secret
