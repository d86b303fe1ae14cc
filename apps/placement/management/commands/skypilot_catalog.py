"""Write SkyPilot's catalog of a cloud with effective rates."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.economics.refusal import Refusal
from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text
from apps.placement.queries.book import newest_book
from apps.placement.queries.skypilot_catalog import machine_prices, priced_catalog
from apps.placement.queries.skypilot_places import SKY_CLOUDS
from apps.show.json_text import json_text


class Command(BaseCommand):
    """`manage.py skypilot_catalog aws --base ~/.sky/catalogs/v8/aws/vms.csv --out vms.csv [--keep-others] [--json]`."""

    help = "Write SkyPilot's catalog of a cloud with the offer book's rates (docs/guides/schedulers.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The cloud, SkyPilot's own catalog of it, and where to."""
        parser.add_argument("cloud", choices=sorted(SKY_CLOUDS))
        parser.add_argument("--base", required=True, help="SkyPilot's own vms.csv; - is stdin")
        parser.add_argument("--out", default="-", help="where to write it; - is stdout")
        parser.add_argument(
            "--keep-others", action="store_true", help="keep machines without a rate at list price"
        )
        parser.add_argument("--json", action="store_true", help="with --out: what was done")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the catalog; say what is not in it on stderr."""
        if options["json"] and options["out"] == "-":
            raise CommandError("--json needs --out: the catalog is on stdout")
        book = newest_book()
        if book is None:
            raise CommandError("no offer book was made yet; manage.py offer_book --make makes one")
        try:
            base = (
                sys.stdin.read()
                if options["base"] == "-"
                else read_small_text(Path(options["base"]))
            )
            prices = machine_prices(book, options["cloud"])
            catalog = priced_catalog(base, prices, keeps_others=options["keep_others"])
        except OSError as refused:
            raise CommandError(f"{options['base']}: {refused.strerror}") from refused
        except (Refusal, FileUnreadable) as refused:
            raise CommandError(str(refused)) from refused
        outcome = "kept at its list price" if options["keep_others"] else "left out"
        for name in catalog.left_out:
            self.stderr.write(f"no rate: {name} is {outcome}")
        if options["out"] == "-":
            self.stdout.write(catalog.text, ending="")
            return
        Path(options["out"]).write_text(catalog.text, encoding="utf-8")
        done = {
            "priced": catalog.priced,
            "unpriced": catalog.left_out,
            "book_made_at": book.made_at,
        }
        if options["json"]:
            self.stdout.write(json_text(done))
        else:
            self.stdout.write(
                f"{catalog.priced} rows with rates of {book.made_at:%Y-%m-%d %H:%M} UTC"
            )
