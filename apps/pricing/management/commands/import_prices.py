"""Import published prices."""

import io
from argparse import ArgumentParser
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_file
from apps.pricing import actions
from apps.pricing.management.loaded import report_loaded
from apps.pricing.management.people import BY, person_named
from apps.pricing.management.published_prices import (
    MOST_BYTES,
    PublishedPricesUnreadable,
    read_published_prices,
)


class Command(BaseCommand):
    """`manage.py import_prices prices.json`: what clouds publish, safe to import again, every rejected row told."""

    help = (
        "Import prices of machines: Azure's retail prices or Google Cloud's catalogue as their APIs answer them (JSON), "
        "or a CSV of provider, region, machine, purchase_option, price, currency, unit, source, date."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the file, and of which day it is."""
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--read-on",
            type=date.fromisoformat,
            metavar="DAY",
            help="when the JSON was had from its publisher; today where none is given (a CSV says it in `date`)",
        )
        parser.add_argument("--by", metavar="EMAIL", help=BY)
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import it and print what came of it."""
        at = timezone.now()
        read_on = options["read_on"] or at.date()
        try:
            source = io.BytesIO(read_small_file(options["file"], MOST_BYTES))
            published = read_published_prices(source, read_on=read_on, today=at.date())
        except (PublishedPricesUnreadable, FileUnreadable, OSError) as problem:
            raise CommandError(f"{options['file']}: {problem}") from problem
        by = person_named(options["by"])
        loaded = actions.import_prices(rows=published.rows, read_on=read_on, at=at, by=by)
        for remark in published.remarks:
            self.stderr.write(remark)
        if published.others:
            self.stderr.write(
                f"{published.others} rows are of other things than machines with GPUs."
            )
        report_loaded(self, published, loaded, as_json=options["json"])
