"""Enter the price of a pool."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.economics.refusal import Refusal
from apps.economics.tiers import NotTiers, Tier, parsed
from apps.economics.typed import parse_amount, parse_moment
from apps.fleet.queries import PoolFact, pools
from apps.pricing import actions
from apps.pricing.management.people import BY, person_named
from apps.pricing.queries import RateKind, RateUnit


class Command(BaseCommand):
    """`manage.py add_rate l40s-lab 12.50 --from 2026-11-01`: it beats contract and list prices."""

    help = "Say what an hour of a pool's nodes, or of its GPUs, costs; past hours are settled anew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How much for what, and when it holds."""
        parser.add_argument("pool", metavar="POOL")
        parser.add_argument("amount", metavar="AMOUNT", type=parse_amount, help="per hour")
        parser.add_argument("--from", dest="starts_at", type=parse_moment, required=True)
        parser.add_argument("--to", dest="ends_at", type=parse_moment)
        parser.add_argument("--per", default=RateUnit.NODE, choices=RateUnit.values)
        parser.add_argument("--kind", default=RateKind.CONTRACT, choices=RateKind.values)
        parser.add_argument("--currency", help="of the amount, where it is not the organisation's")
        parser.add_argument(
            "--tiers",
            type=_tiers_argument,
            default=(),
            metavar="FROM=AMOUNT;…",
            help="what more costs in a month: 1000=8 is 8 beyond 1,000 node-hours or GPU-hours",
        )
        parser.add_argument("--source", default="", help="where the figure comes from")
        parser.add_argument("--by", metavar="EMAIL", help=BY)
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Enter it, or say why not."""
        pool = _pool_named(options["pool"])
        currency = options["currency"] or organisation().currency
        rate = actions.EnteredRate(
            kind=options["kind"],
            amount=options["amount"],
            currency=currency,
            starts_at=options["starts_at"],
            ends_at=options["ends_at"],
            purchase_option=pool.purchase_option,
            pool_id=pool.id,
            unit=options["per"],
            tiers=options["tiers"],
            source=options["source"],
        )
        try:
            entered = actions.propose_rate(
                rate=rate, by=person_named(options["by"]), at=timezone.now()
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        message = f"{pool.name}: {rate.amount:f} {currency} per {options['per']} and hour."
        if rate.remark:
            message += f" It was {rate.remark}."
        if entered.doubt:
            message += f" It waits until a person of finance decides: {entered.doubt}."
        fields = {"id": entered.id, "standing": entered.standing, "doubt": entered.doubt}
        self.stdout.write(json.dumps(fields) if options["json"] else message)


def _pool_named(name: str) -> PoolFact:
    for pool in pools().values():
        if pool.name == name:
            return pool
    raise CommandError(f"there is no pool named {name!r}")


def _tiers_argument(text: str) -> tuple[Tier, ...]:
    try:
        return parsed(text)
    except NotTiers as refusal:
        raise ArgumentTypeError(str(refusal)) from None
