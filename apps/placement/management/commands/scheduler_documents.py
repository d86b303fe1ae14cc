"""Print what a scheduler is given."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import has_organisation
from apps.economics.refusal import Refusal
from apps.placement.queries.scheduler_exports import GIVEN, documents_as_yaml, documents_of
from apps.show.json_text import json_text


class Command(BaseCommand):
    """`manage.py scheduler_documents kueue [--cluster NAME] [--yaml | --json]`: YAML where nothing is said."""

    help = "Print documents with effective rates for a scheduler (docs/guides/schedulers.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the scheduler, the cluster whose pools it is given, and the form."""
        parser.add_argument("scheduler", choices=sorted(GIVEN))
        parser.add_argument("--cluster", default="", help="pools of this cluster alone")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--yaml", action="store_true", help="documents one after the other")
        form.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print them; what is not in them is a comment, or among the notes."""
        if not has_organisation():
            raise CommandError("there is no organisation yet")
        try:
            documents = documents_of(options["scheduler"], options["cluster"], timezone.now())
        except Refusal as refused:
            raise CommandError(str(refused)) from refused
        if options["json"]:
            self.stdout.write(json_text(asdict(documents)))
        else:
            self.stdout.write(documents_as_yaml(documents), ending="")
