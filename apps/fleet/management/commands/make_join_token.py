"""Make a token with which the nodes of a cluster let themselves in."""

from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from apps.fleet import actions
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import cluster_named, pool_named


class Command(AnsweringCommand):
    """`manage.py make_join_token --cluster prod --nodes 'gpu-*'`: shown once, kept as a hash."""

    help = "Make a join token, which each node of a cluster trades for a token of its own."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which nodes, for how long, and where new ones go."""
        super().add_arguments(parser)
        parser.add_argument("--cluster", required=True, help="whose nodes may join")
        parser.add_argument(
            "--nodes", required=True, nargs="+", metavar="NAME", help="names, or patterns: 'gpu-*'"
        )
        parser.add_argument("--pool", help="where nodes that are not on record are added")
        parser.add_argument(
            "--most-nodes",
            type=int,
            default=actions.USUAL_NODES,
            help="how many nodes it adds; those beyond wait for a person (default: %(default)s)",
        )
        parser.add_argument("--name", default="", help="what carries it, such as a DaemonSet")
        parser.add_argument("--expires-days", type=float, default=90)
        parser.add_argument("--without-jobs", action="store_true", help="they tell of no jobs")

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Make it; the sentence is the token alone, for whoever pipes it on."""
        expires_at = at + timedelta(days=options["expires_days"])
        new = actions.NewJoinToken(
            name=options["name"] or f"nodes of {options['cluster']}",
            cluster_id=cluster_named(options["cluster"]),
            node_names=tuple(options["nodes"]),
            expires_at=expires_at,
            pool_id=None if options["pool"] is None else pool_named(options["pool"]).id,
            reports_jobs=not options["without_jobs"],
            most_nodes=options["most_nodes"],
        )
        token = actions.make_join_token(token=new, at=at)
        return {"token": token.secret, "expires_at": expires_at.isoformat()}, token.secret
