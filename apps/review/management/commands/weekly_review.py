"""Make the weekly portfolio review of a week, or show the one that is kept."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.queries.weekly.json_text import as_json
from apps.review.queries.weekly.kept import KeptReview, kept_review
from apps.review.queries.weekly.review_words import VERDICT_WORDS
from apps.show.amounts import counted


class Command(BaseCommand):
    """`manage.py weekly_review --week 2026-W30 --json`: makes it once, and shows what is kept from then on."""

    help = "Make the weekly portfolio review of a week that is over, or show the one that is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which week, and how it is printed."""
        parser.add_argument("--week", default="", help="an ISO week, as 2026-W30; empty: the last")
        parser.add_argument("--json", action="store_true", help="all of it, as it is frozen")
        parser.add_argument(
            "--again", default="", metavar="WHY", help="make a further edition, and say why"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it where it is not kept, or a further edition; print it."""
        try:
            week = actions.make_review_where_none(
                name=options["week"], at=timezone.now(), reason=options["again"]
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        kept = kept_review(week)
        self.stdout.write(_json_text(kept) if options["json"] else _summary(kept))


def _json_text(kept: KeptReview) -> str:
    whole = as_json(kept.content)
    said = {"week": kept.week, "edition": kept.edition, "digest": kept.digest, "content": whole}
    return json.dumps(said, indent=1, sort_keys=True, ensure_ascii=False)


def _summary(kept: KeptReview) -> str:
    verdicts = [each.verdict.verdict for each in kept.content.workloads]
    said = ", ".join(f"{verdicts.count(word)} {word}" for word in VERDICT_WORDS)
    return "\n".join(
        (
            kept.content.title,
            f"{counted(len(verdicts), 'workload')}: {said}",
            f"edition {kept.edition}, made {kept.made_at:%Y-%m-%d %H:%M}Z, digest {kept.digest}",
        )
    )
