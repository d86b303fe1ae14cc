"""Say what a node's provider calls it."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from apps.economics.typed import parse_moment
from apps.fleet import actions, queries
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.management.named import cluster_named
from apps.fleet.queries.node_terms import NAMES


class Command(AnsweringCommand):
    """`manage.py correct_node atlas/gpu-01 --provider-id i-0abc`: bills are read again by it."""

    help = "Say what a node's provider calls it, or how it was bought; of several lives of a name, --at says which."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which node, and its id."""
        super().add_arguments(parser)
        parser.add_argument("node", metavar="[CLUSTER/]NAME")
        parser.add_argument("--provider-id", help="such as i-0abc; spellings of a cluster too")
        parser.add_argument("--platform", help="what runs on it: Linux/UNIX, Windows, RHEL, SUSE …")
        parser.add_argument("--tenancy", help="default, dedicated or host")
        parser.add_argument("--account", help="account, project, or SUBSCRIPTION/RESOURCE-GROUP")
        parser.add_argument("--reservation", help="the capacity reservation that it runs in")
        parser.add_argument("--at", dest="lived_at", type=parse_moment, help="a moment of its life")

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Keep it."""
        cluster, _, bare = options["node"].rpartition("/")
        cluster_ids = [cluster_named(cluster)] if cluster else [None, *queries.clusters()]
        moment = options["lived_at"]
        node_ids = [
            node_id
            for cluster_id in cluster_ids
            for node_id, began_at, ended_at in queries.nodes_named(cluster_id, [bare]).get(bare, [])
            if moment is None or (began_at <= moment and (ended_at is None or moment < ended_at))
        ]
        if len(node_ids) != 1:
            subject = "several nodes were" if node_ids else "no node was"
            raise CommandError(
                f"{subject} called {options['node']!r}; CLUSTER/NAME and --at say which"
            )
        terms = {name: options[name] for name in NAMES if options[name] is not None}
        provider_id = options["provider_id"]
        if provider_id is None and not terms:
            raise CommandError(f"say --provider-id or one of --{', --'.join(NAMES)}")
        with transaction.atomic():
            if provider_id is not None:
                actions.correct_provider_id(node_id=node_ids[0], provider_id=provider_id, at=at)
            if terms:
                actions.correct_node_terms(node_id=node_ids[0], at=at, **terms)
        if provider_id is None:
            return {"id": node_ids[0]}, f"{bare} is charged again by what may cover it."
        return {"id": node_ids[0]}, f"{bare} is known to its provider as {provider_id}."
