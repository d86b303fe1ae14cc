"""Share a monthly amount over the lines of every hour."""

import json
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.economics.refusal import Refusal
from apps.economics.sharing import METHODS
from apps.economics.typed import parse_amount, parse_moment
from apps.pricing import actions


class Command(BaseCommand):
    """`manage.py add_shared_cost Storage 4200 --method weighted --weight Research=3 --from …`."""

    help = "Add an amount a month that is allocated to all lines; past hours are settled anew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for what is shared, how much, by which method, and when."""
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("amount", metavar="AMOUNT", type=parse_amount, help="a month")
        parser.add_argument(
            "--method", default="by_cost", choices=[str(method) for method in METHODS]
        )
        parser.add_argument(
            "--weight", action="append", default=[], metavar="TEAM=WEIGHT", help="for weighted"
        )
        parser.add_argument("--from", dest="starts_at", type=parse_moment, required=True)
        parser.add_argument("--to", dest="ends_at", type=parse_moment)
        parser.add_argument("--currency", help="the organisation's where it is not said")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Enter it, or say why not."""
        cost = actions.EnteredSharedCost(
            name=options["name"],
            amount=options["amount"],
            currency=options["currency"] or accounts.organisation().currency,
            method=options["method"],
            starts_at=options["starts_at"],
            ends_at=options["ends_at"],
            weights=_weights_by_team(options["weight"]),
        )
        try:
            cost_id = actions.add_shared_cost(cost=cost, at=timezone.now())
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        message = f"{cost.name}: {cost.amount} {cost.currency} a month, {METHODS[cost.method]}."
        self.stdout.write(json.dumps({"id": cost_id}) if options["json"] else message)


def _weights_by_team(texts: list[str]) -> dict[int, Decimal]:
    ids = {team.name: team.id for team in accounts.teams()}
    weights = {}
    for text in texts:
        name, _, weight = text.rpartition("=")
        if name not in ids:
            raise CommandError(f"weight: there is no team named {name!r}")
        try:
            weights[ids[name]] = Decimal(weight)
        except InvalidOperation:
            raise CommandError(f"weight: {weight!r} is not a number") from None
    return weights
