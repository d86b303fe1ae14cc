"""Enter in which regions a provider has which GPUs."""

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.gpu_catalogue import gpu_model
from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text
from apps.placement.actions import set_accelerator_regions


class Command(BaseCommand):
    """`manage.py import_accelerators FILE --provider gcp --source WORDS`: two columns, a GPU and a region.

    The first line is a heading; columns are apart by a semicolon or a comma. GPUs that the catalogue does not know are counted and
    left out. What was said of the provider before is replaced.
    """

    help = "Enter where a provider has which GPUs (docs/guides/placement.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the file, its provider, and who says so."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--provider", required=True)
        parser.add_argument("--source", required=True, help="where the table is from")

    def handle(self, *args: Any, **options: Any) -> None:
        """Enter all of it."""
        try:
            lines = read_small_text(options["file"]).splitlines()[1:]
        except (FileUnreadable, OSError) as refused:
            raise CommandError(f"{options['file']}: {refused}") from refused
        places, unknown = set(), set()
        for name, region, *_ in csv.reader(line.replace(";", ",") for line in lines if line):
            model = gpu_model(name)
            if model is None:
                unknown.add(name)
            else:
                places.add((model.name, region))
        if not places:
            raise CommandError(f"{options['file']}: no line names a GPU that the catalogue knows")
        changed = set_accelerator_regions(
            provider=options["provider"],
            places=places,
            source=options["source"],
            at=timezone.now(),
        )
        self.stdout.write(
            f"{len(places)} regions with GPUs read, {changed} new or gone; not in the catalogue: {len(unknown)}"
        )
