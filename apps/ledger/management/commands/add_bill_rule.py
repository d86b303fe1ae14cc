"""Say where rows of bills go that do not say it themselves."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.economics.billing import BillRowRule
from apps.economics.focus.kinds import KINDS
from apps.economics.refusal import Refusal
from apps.economics.sharing import BILL_METHODS
from apps.fleet import queries as fleet
from apps.ledger.actions.bill_rules import add_bill_rule, end_bill_rule
from apps.ledger.queries.bills.rules import nodes_called

PATTERNS = ("issuer", "service", "usage_type", "resource_id", "sub_account")


class Command(BaseCommand):
    """`manage.py add_bill_rule --resource-id 'i-0ab*' --node gpu-07`: bills are reconciled again."""

    help = (
        "Say of rows of bills, by shell patterns, their kind, node, pool or team, or by what all share"
        " them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which rows, and what of them."""
        for name in PATTERNS:
            parser.add_argument(f"--{name.replace('_', '-')}", default="", metavar="PATTERN")
        parser.add_argument("--tag", default="", metavar="KEY[=PATTERN]")
        parser.add_argument("--kind", default="", choices=["", *KINDS])
        for name in ("node", "pool", "team"):
            parser.add_argument(f"--{name}", default="", metavar="NAME")
        parser.add_argument(
            "--share", default="", choices=["", *BILL_METHODS], help="a shared cost of the month"
        )
        parser.add_argument("--end", type=int, metavar="ID", help="end this rule instead")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Keep it, or say why not."""
        at = timezone.now()
        if options["end"]:
            end_bill_rule(rule_id=options["end"], at=at)
            return
        try:
            rule_id = add_bill_rule(rule=_parse_rule(options), at=at)
        except Refusal as refused:
            raise CommandError(str(refused)) from refused
        print(json.dumps({"id": rule_id}) if options["json"] else f"Rule {rule_id} is kept.")


def _parse_rule(options: dict[str, Any]) -> BillRowRule:
    key, _, value = options["tag"].partition("=")
    pools = {pool.name: pool.id for pool in fleet.pools().values()}
    teams = {team.name: team.id for team in accounts.teams()}
    return BillRowRule(
        id=0,
        **{name: options[name] for name in PATTERNS},
        tag_key=key,
        tag_value=value,
        kind=options["kind"],
        share_method=options["share"],
        node_id=_node_named(options["node"]),
        pool_id=_id_named("pool", options["pool"], pools),
        team_id=_id_named("team", options["team"], teams),
    )


def _node_named(name: str) -> int | None:
    """The node of this name, living or ended; of those that bore it in turn rows choose by time."""
    cluster, _, bare = name.rpartition("/")
    clusters = {known_cluster.name: known_cluster.id for known_cluster in fleet.clusters().values()}
    if not name:
        return None
    node_ids = nodes_called(bare, _id_named("cluster", cluster, clusters))
    if len(node_ids) != 1:
        message = (
            "there is no node" if not node_ids else "several clusters have a node; say CLUSTER/NAME"
        )
        raise CommandError(f"{message}: {name!r}")
    return node_ids[0]


def _id_named(what: str, name: str, ids_by_name: Mapping[str, int]) -> int | None:
    if not name:
        return None
    if name not in ids_by_name:
        raise CommandError(f"there is no {what} named {name!r}")
    return ids_by_name[name]
