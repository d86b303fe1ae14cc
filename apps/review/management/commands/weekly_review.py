"""Make the weekly portfolio review of a week, or show the one that is kept."""

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import has_organisation
from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.queries.weekly.json_text import as_json
from apps.review.queries.weekly.paper import ReviewPaper, review_document
from apps.review.queries.weekly.paper_mail import mailed_review, printed_review
from apps.review.queries.weekly.review_message import review_paper
from apps.review.queries.weekly.review_words import VERDICT_WORDS
from apps.review.queries.weekly.stored_reviews import StoredReview, stored_review
from apps.show.amounts import counted
from apps.show.data import file_size
from apps.show.document import DocumentLocale, DocumentTable, csv_of_table
from apps.show.document.pdf import document_pdf


class Command(BaseCommand):
    """`manage.py weekly_review --week 2026-W30 --json`: makes it once, and shows what is kept from then on."""

    help = "Make the weekly portfolio review of a week that is over, or show the one that is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which week, and how it is printed."""
        parser.add_argument("--week", default="", help="an ISO week, as 2026-W30; empty: the last")
        parser.add_argument("--json", action="store_true", help="all of it, as it is frozen")
        parser.add_argument("--text", action="store_true", help="as the plain text of its mail")
        parser.add_argument("--html", type=Path, metavar="FILE", help="write its mail there")
        parser.add_argument("--pdf", type=Path, metavar="FILE", help="write its PDF there")
        parser.add_argument("--csv", type=Path, metavar="FOLDER", help="write its tables there")
        parser.add_argument(
            "--again", default="", metavar="WHY", help="make a further edition, and say why"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it where it is not kept, or a further edition; print it."""
        if not has_organisation():
            raise CommandError("there is no organisation yet")
        try:
            week = actions.make_review_if_missing(
                name=options["week"], at=timezone.now(), reason=options["again"]
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        paper = review_paper(stored_review(week))
        for line in _written_files(paper, options):
            self.stderr.write(line)
        text_of = _json_text if options["json"] else _mail_text if options["text"] else _summary
        self.stdout.write(text_of(paper.kept))


def _written_files(paper: ReviewPaper, options: Mapping[str, Any]) -> Iterator[str]:
    """Writes the files that are asked for, and says each; refuses CommandError where it cannot."""
    document = review_document(paper)
    contents: dict[Path, Callable[[], bytes]] = {}
    if options["html"]:
        contents[options["html"]] = lambda: mailed_review(paper).html.encode()
    if options["pdf"]:
        contents[options["pdf"]] = lambda: document_pdf(
            printed_review(paper), paper.kept.made_at, more_fonts=settings.PDF_FONTS
        )
    if options["csv"]:
        for table in document.tables:
            path = options["csv"] / f"{paper.kept.week}-{table.name}.csv"
            contents[path] = partial(_csv_bytes, table, document.locale)
    for path, content in contents.items():
        file_bytes = content()
        try:
            path.write_bytes(file_bytes)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}") from error
        yield f"{path}: {file_size(len(file_bytes))}"


def _csv_bytes(table: DocumentTable, locale: DocumentLocale) -> bytes:
    return csv_of_table(table, locale).encode()


def _mail_text(review: StoredReview) -> str:
    return mailed_review(review_paper(review)).text


def _json_text(review: StoredReview) -> str:
    content = as_json(review.content)
    fields = {
        "week": review.week,
        "edition": review.edition,
        "digest": review.digest,
        "content": content,
    }
    return json.dumps(fields, indent=1, sort_keys=True, ensure_ascii=False)


def _summary(review: StoredReview) -> str:
    counts = review.content.verdict_counts
    verdicts = ", ".join(f"{counts[word]} {word}" for word in VERDICT_WORDS)
    return "\n".join(
        (
            review.content.title,
            f"{counted(len(review.content.workloads), 'workload')}: {verdicts}",
            f"edition {review.edition}, made {review.made_at:%Y-%m-%d %H:%M}Z, digest {review.digest}",
        )
    )
