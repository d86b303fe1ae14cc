"""List hardware that was bought."""

import json
from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.economics.hours import hour_of
from apps.fleet.queries import pools
from apps.pricing.queries.owned import OwnedPlanFact, clock_of, owned_plans, written_off

EMPTY = "No hardware was entered yet: manage.py add_owned_plan FILE.toml (docs/guides/owned.md)."


class Command(BaseCommand):
    """`manage.py owned_plans`: every plan with what is written off of it."""

    help = "List hardware that was bought, what is written off, its monthly costs and tariffs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """For people or for programs."""
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """One block for each plan."""
        at = hour_of(timezone.now())
        zone, names = organisation().zone, {pool.id: pool.name for pool in pools().values()}
        documents = []
        for plan in owned_plans():
            off = Decimal(written_off(plan, at, zone)).scaleb(-6)
            monthly_costs = {cost.name: f"{cost.monthly:f}" for cost in plan.costs_at(at)}
            power = {
                clock_of(minute): f"{Decimal(micros).scaleb(-6):f}"
                for minute, micros in plan.tariffs_at(at)
            }
            documents.append(
                _plan_fields(plan, names[plan.pool_id], off)
                | {"monthly": monthly_costs, "power": power}
            )
        if options["json"]:
            self.stdout.write(json.dumps({"plans": documents}))
            return
        for document in documents:
            self.stdout.write(
                "\n".join(f"{name}: {_cell_text(value)}" for name, value in document.items())
            )
            self.stdout.write("")
        if not documents:
            self.stdout.write(EMPTY)


def _plan_fields(plan: OwnedPlanFact, pool: str, off: Decimal) -> dict[str, object]:
    return {
        "id": plan.id,
        "name": plan.name,
        "pool": pool,
        "nodes": plan.nodes,
        "purchase": f"{plan.purchase:f}",
        "salvage": f"{plan.salvage:f}",
        "written_off": f"{off:f}",
        "left": f"{plan.purchase - off:f}",
        "life_months": plan.life_months,
        "watts": plan.watts,
        "pue": f"{plan.pue:f}",
        "currency": plan.currency,
        "starts_at": plan.starts_at.isoformat(),
        "ends_at": None if plan.ends_at is None else plan.ends_at.isoformat(),
    }


def _cell_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {amount}" for name, amount in value.items()) or "none"
    return "in service" if value is None else str(value)
