"""Close a month, reopen it, or post what came late for it."""

from argparse import ArgumentParser
from dataclasses import asdict
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries.people import person_of_address
from apps.economics.typed import parse_month
from apps.ledger.actions import close
from apps.ledger.actions.closed import MonthAlreadyClosed
from apps.ledger.queries.closes.checklist import checklist
from apps.ledger.queries.closes.months import closes
from apps.show.json_text import json_text

REFUSALS = (
    close.ItemsNotAccepted,
    close.MonthNotClosed,
    close.MonthNotOver,
    close.MonthNotReady,
    close.NoOpenMonth,
    MonthAlreadyClosed,
)


class Command(BaseCommand):
    """`manage.py close_month 2026-07 --accept unbilled,unowned`."""

    help = "Close a month; without --accept it lists the open items. See docs/guides/close.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The month and what is to be done with it."""
        parser.add_argument("month", type=parse_month, metavar="YYYY-MM")
        parser.add_argument("--by", default="", metavar="EMAIL", help="who closes it")
        parser.add_argument("--accept", default="", metavar="CODES", help="open items to waive")
        parser.add_argument("--note", default="")
        parser.add_argument("--check", action="store_true", help="only list the open items")
        parser.add_argument("--reopen", default="", metavar="REASON", help="open it again")
        parser.add_argument(
            "--correct",
            action="store_true",
            help="post late-arriving facts as corrections in the open month",
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it and tell what came of it."""
        try:
            outcome = self._do_asked(options["month"], options)
        except REFUSALS as refused:
            raise CommandError(str(refused)) from refused
        if options["json"]:
            print(json_text(outcome))
            return
        for name, value in outcome.items():
            print(f"{name:18} {value}")

    def _do_asked(self, month: date, options: dict[str, Any]) -> dict[str, Any]:
        at, named = timezone.now(), f"{month:%Y-%m}"
        if options["check"]:
            return {item.code: f"{item.count}  {item.label}" for item in checklist(month)}
        person_id = _person_id(options["by"])
        if options["reopen"]:
            close.reopen_month(month=month, reason=options["reopen"], person_id=person_id, at=at)
            return {"month": named, "open": True}
        if options["correct"]:
            return asdict(close.post_corrections(month=month, at=at))
        close_request = close.CloseRequest(
            month=month,
            person_id=person_id,
            accepted=[code.strip() for code in options["accept"].split(",") if code.strip()],
            note=options["note"],
        )
        close.close_month(request=close_request, at=at)
        newest = closes(month)[0]
        return {
            "month": named,
            "version": newest.version,
            "lines": newest.lines,
            "digest": newest.digest,
            **newest.totals,
        }


def _person_id(email: str) -> int | None:
    if not email:
        return None
    person_id = person_of_address(email)
    if person_id is None:
        raise CommandError(f"nobody here has the address {email}")
    return person_id
