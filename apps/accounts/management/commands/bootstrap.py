"""Make the organisation of a new installation."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts import actions

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
            actions.bootstrap(organisation=chosen, at=timezone.now())
        except (
            actions.AlreadyBootstrapped,
            actions.CurrencyUnknown,
            actions.NameMissing,
            actions.ZoneUnknown,
        ) as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            self.stdout.write(json.dumps({"name": chosen.name, "currency": chosen.currency}))
        else:
            self.stdout.write(f"{chosen.name}: {chosen.currency}, {chosen.zone}.")
