"""Show what could be done about what work costs, and look for it where nobody looked this week."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import has_organisation, organisation
from apps.placement.queries.moves.work import move_week
from apps.review.actions import detect_recommendations
from apps.review.queries.recommendations import (
    RecommendationDetectionRunFact,
    latest_recommendation_detection_run,
    open_recommendations,
)
from apps.review.queries.recommending.kinds import KIND_LABELS
from apps.show.json_text import json_text
from apps.show.money import rounded_amount


class Command(BaseCommand):
    """`manage.py recommendations --json`: this week's are looked for once, then shown as they were kept."""

    help = "Show what is recommended (docs/guides/recommendations.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How to print it."""
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Look where the week has no look yet, and print what is to be done."""
        if not has_organisation():
            raise CommandError("there is no organisation yet")
        at = timezone.now()
        newest_look = latest_recommendation_detection_run(at)
        if newest_look is None or newest_look.week < move_week(at):
            detect_recommendations(week=move_week(at), at=at)
            newest_look = latest_recommendation_detection_run(at)
        if newest_look is None:
            raise CommandError("a later look is kept already")
        open_ones = open_recommendations(at)
        if options["json"]:
            fields = asdict(newest_look) | {
                "recommendations": [asdict(recommendation) for recommendation in open_ones]
            }
            self.stdout.write(json_text(fields))
            return
        currency = organisation().currency
        counted = rounded_amount(newest_look.counted_micros, currency)
        self.stdout.write(
            f"{len(open_ones)} recommendations in the week of {newest_look.week}; {counted} a month counted"
        )
        for open_recommendation in open_ones:
            low, high = (
                rounded_amount(end, currency)
                for end in (open_recommendation.saving.low, open_recommendation.saving.high)
            )
            mark = "" if open_recommendation.is_counted else " (not counted)"
            self.stdout.write(
                f"{open_recommendation.state:8} {low} to {high} a month{mark}: {open_recommendation.title}"
            )
        self._print_kinds(newest_look)

    def _print_kinds(self, newest_look: RecommendationDetectionRunFact) -> None:
        for kind in newest_look.kinds:
            label = KIND_LABELS.get(kind["kind"], kind["kind"])
            if kind["not_looked"]:
                self.stdout.write(f"{label}: not looked, as {kind['not_looked']}")
                continue
            self.stdout.write(
                f"{label}: {kind['looked_at']} {kind['looked_at_words']} looked at, {kind['proposed']} proposed"
            )
            for reason in kind["passed_over"]:
                self.stdout.write(f"  {reason['count']:>5} {reason['why']}")
