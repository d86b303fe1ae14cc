"""Choose the organisation of a new installation; every room is asked whether it rests on one."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts import actions, queries
from apps.economics.refusal import Refusal
from apps.pricing.queries import rests_on_organisation

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Command(BaseCommand):
    """`manage.py bootstrap`: what it says is kept for good."""

    help = "Name the organisation and choose its currency, time zone and first weekday, for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What cannot be changed later."""
        parser.add_argument("--name", required=True)
        parser.add_argument("--currency", default="USD", help="ISO 4217 code (default USD)")
        parser.add_argument("--zone", default="UTC", help="such as Europe/Berlin (default UTC)")
        parser.add_argument("--week-start", default="monday", choices=WEEKDAYS)
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it, or say why not."""
        chosen = actions.Bootstrap(
            name=options["name"],
            currency=options["currency"],
            zone=options["zone"],
            week_starts_on=WEEKDAYS.index(options["week_start"]) + 1,
        )
        try:
            _choose(chosen)
        except (actions.AlreadyBootstrapped, Refusal) as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            kept = {name: value for name, value in asdict(chosen).items() if name != "is_demo"}
            self.stdout.write(json.dumps(kept))
        else:
            self.stdout.write(f"{chosen.name}: {chosen.currency}, {chosen.zone}.")


def _choose(chosen: actions.Bootstrap) -> None:
    at = timezone.now()
    if queries.has_organisation():
        actions.choose_organisation(organisation=chosen, at=at, is_rested_on=rests_on_organisation)
    else:
        actions.bootstrap(organisation=chosen, at=at)
