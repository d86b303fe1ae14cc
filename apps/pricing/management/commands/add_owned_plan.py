"""Enter hardware that was bought."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.refusal import Refusal
from apps.pricing import actions
from apps.pricing.management.owned_file import OwnedPlanFileUnreadable, read_owned_plan


class Command(BaseCommand):
    """`manage.py add_owned_plan rack-4.toml`; docs/guides/owned.md has the fields of the file."""

    help = "Enter what nodes of a pool cost that were bought; past hours are charged again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the file, and how to print the answer."""
        parser.add_argument("file", metavar="FILE.toml", type=Path)
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Enter it, or say which field is wrong."""
        try:
            plan = read_owned_plan(options["file"])
            plan_id = actions.add_owned_plan(plan=plan, at=timezone.now())
        except (OwnedPlanFileUnreadable, Refusal) as refusal:
            raise CommandError(str(refusal)) from refusal
        message = f"{plan.name}: {plan.nodes} nodes since {plan.starts_at:%Y-%m-%d %H:%M}Z."
        self.stdout.write(json.dumps({"id": plan_id}) if options["json"] else message)
