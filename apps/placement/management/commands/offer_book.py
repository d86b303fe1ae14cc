"""Show what GPU time can be had now."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import has_organisation, organisation
from apps.economics.money import MICROS
from apps.placement.actions import make_offer_book
from apps.placement.queries.book import BookFact, newest_book
from apps.placement.queries.offer_facts import OfferFact
from apps.show.json_text import json_text


class Command(BaseCommand):
    """`manage.py offer_book [--make] --json`: the newest book, and what was left out of it."""

    help = "Show the newest offer book (docs/guides/placement.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whether to make one first, and how to print it."""
        parser.add_argument("--make", action="store_true", help="make this hour's book anew")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print every offer, and what was left out."""
        if not has_organisation():
            raise CommandError("there is no organisation yet")
        if options["make"]:
            make_offer_book(at=timezone.now())
        book = newest_book()
        if book is None:
            raise CommandError("no offer book was made yet; --make makes one")
        if options["json"]:
            fields = asdict(book) | {"offers": [asdict(offer) for offer in book.offers.values()]}
            # Both are said by the offers.
            del fields["models"], fields["on_demand"]
            self.stdout.write(json_text(fields))
        else:
            self._print_table(book)

    def _print_table(self, book: BookFact) -> None:
        currency = organisation().currency
        self.stdout.write(f"{len(book.offers)} offers of {book.made_at:%Y-%m-%d %H:%M} UTC")
        for offer in book.offers.values():
            self.stdout.write(
                f"{offer.option:10} {_price_words(offer, currency):>16}  {offer.name}"
            )
        for why in book.left_out:
            self.stdout.write(f"left out: {why}")


def _price_words(offer: OfferFact, currency: str) -> str:
    return "no price" if offer.micros is None else f"{offer.micros / MICROS:.4f} {currency}"
