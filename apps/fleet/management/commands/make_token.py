"""Make an access token for a machine."""

from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.accounts import actions as accounts
from apps.accounts.queries import Scope
from apps.accounts.queries.scopes import SCOPE_WORDS
from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import cluster_named, live_node_id, team_named


class Command(AnsweringCommand):
    """`manage.py make_token NAME --scope ingest --node gpu-01`: shown once, kept as a hash."""

    help = (
        "Make an access token; one of jobs or schedule may be bound to a cluster, an agent's to a node, and any to a team."
        " Take the least that does: "
        + "; ".join(f"{scope}: {words}" for scope, words in SCOPE_WORDS.items())
        + "."
    )

    options_of = {"expires_at": "--expires-days"}

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say what the token may do, and where."""
        super().add_arguments(parser)
        parser.add_argument("name", metavar="NAME", help="what uses it")
        parser.add_argument("--scope", action="append", required=True, choices=Scope.values)
        parser.add_argument(
            "--cluster", help="the only cluster whose jobs it may write, or that it schedules"
        )
        parser.add_argument("--node", help="the only node it may write, as NAME or CLUSTER/NAME")
        parser.add_argument(
            "--team", help="the only team, with those below, that it may read or ask for"
        )
        parser.add_argument("--source", default="nvml", choices=["nvml", "dcgm", "simulated"])
        parser.add_argument("--expires-days", type=int)

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Make and bind it; the sentence is the token alone, for whoever pipes it on."""
        days = options["expires_days"]
        with transaction.atomic():
            token = accounts.make_token(
                name=options["name"],
                scopes=options["scope"],
                expires_at=None if days is None else at + timedelta(days=days),
                at=at,
                team_id=team_named(options["team"]) if options["team"] else None,
            )
            _bind_token(token.id, options, at)
        return {"id": token.id, "token": token.secret}, token.secret


def _bind_token(token_id: int, options: dict[str, Any], at: datetime) -> None:
    if options["cluster"]:
        actions.bind_cluster_token(token_id=token_id, cluster_id=cluster_named(options["cluster"]))
    if options["node"]:
        actions.bind_agent(
            node_id=live_node_id(options["node"], at),
            token_id=token_id,
            source=options["source"],
            at=at,
        )
