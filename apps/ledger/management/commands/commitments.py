"""Say how well what was bought ahead is used."""

import json
from argparse import ArgumentParser
from fractions import Fraction
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.ledger.queries import WindowNotUnderstood, calendar_of, window_of
from apps.ledger.queries.commitments import Figures, Use, commitment_use, term_of
from apps.pricing.queries.commitments import CommitmentFact
from apps.show.amounts import per_cent
from apps.show.money import full_amount

MICROS = 1_000_000


class Command(BaseCommand):
    """`manage.py commitments --month 2026-11 --json`: coverage, utilisation, savings by each."""

    help = "Tell what commitments of a month covered, what was not used, and what they saved."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which days."""
        parser.add_argument("--month", default="month", metavar="YYYY-MM", help="or 7d, lastmonth")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each commitment, then all together; what is undefined is null."""
        chosen, at = organisation(), timezone.now()
        try:
            window = window_of(
                options["month"], calendar_of(chosen.zone, chosen.week_starts_on, at)
            )
        except WindowNotUnderstood as refusal:
            raise CommandError(str(refusal)) from refusal
        use = commitment_use((window.starts_at, window.ends_at), at)
        if options["json"]:
            serialized = [
                _serialize_figures(fact, use.figures(one), term_of(fact, at).left_hours)
                for one, fact in use.commitments.items()
            ]
            figures = {
                "currency": chosen.currency,
                "commitments": serialized,
                "all": _serialize_totals(use),
            }
            self.stdout.write(json.dumps(figures))
            return
        for one, fact in use.commitments.items():
            self.stdout.write(_in_words(fact.name, use.figures(one), chosen.currency))
        self.stdout.write(_in_words("all", use.all, chosen.currency))


def _serialize_figures(
    fact: CommitmentFact, figures: Figures, left_hours: int
) -> dict[str, object]:
    return {
        "id": fact.id,
        "name": fact.name,
        "kind": fact.kind,
        "coverage": _float_ratio(figures.coverage),
        "utilisation": _float_ratio(figures.utilisation),
        "effective_savings_rate": _float_ratio(figures.savings_rate),
        "break_even": _float_ratio(figures.break_even),
        **_serialize_amounts(figures),
        "left_hours": left_hours,
    }


def _serialize_totals(use: Use) -> dict[str, object]:
    return {
        "coverage": _float_ratio(use.coverage),
        "utilisation": _float_ratio(use.utilisation),
        "effective_savings_rate": _float_ratio(use.all.savings_rate),
        **_serialize_amounts(use.all),
        "unused_of_nobody_entered": _plain_amount(use.nameless_unused),
    }


def _serialize_amounts(figures: Figures) -> dict[str, object]:
    return {
        "on_demand": _plain_amount(figures.on_demand),
        "cost": _plain_amount(figures.cost),
        "unused": _plain_amount(figures.unused_cost),
        "saved": _plain_amount(figures.saved),
    }


def _float_ratio(ratio: Fraction | None) -> float | None:
    return None if ratio is None else round(float(ratio), 6)


def _plain_amount(micros: int | None) -> str | None:
    if micros is None:
        return None
    units, remainder = divmod(abs(micros), MICROS)
    return f"{'-' if micros < 0 else ''}{units}.{remainder:06d}"


def _in_words(name: str, figures: Figures, currency: str) -> str:
    return (
        f"{name}: savings rate {per_cent(figures.savings_rate)}, cost "
        f"{full_amount(figures.cost, currency)}, unused {full_amount(figures.unused_cost, currency)}"
    )
