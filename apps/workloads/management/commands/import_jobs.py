"""Read jobs from any CSV by a mapping."""

import sys
from argparse import ArgumentParser
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text
from apps.fleet.actions import EnteredPool
from apps.workloads.actions.pool_capacity import CapacityOutsideLife, CountedPool, count_pool
from apps.workloads.management.job_import import import_rows, print_figures
from apps.workloads.providers.job_file import open_jobs
from apps.workloads.providers.job_mapping import MappingRefused, read_mapping
from apps.workloads.providers.job_table import JobTable


class Command(BaseCommand):
    """`manage.py import_jobs FILE --mapping FILE.toml`: safe to run again."""

    help = "Import jobs from a CSV by a mapping; docs/guides/import-jobs.md lists its keys."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file and its mapping."""
        parser.add_argument("file", metavar="FILE", help="plain, gzip or zip; - for standard input")
        parser.add_argument("--mapping", required=True, metavar="FILE.toml")
        parser.add_argument("--cluster", default="", help="whose jobs these are")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the file, count its pool, and print what came of it."""
        at = timezone.now()
        try:
            mapping = read_mapping(read_small_text(Path(options["mapping"])))
            table = JobTable(mapping, cluster=options["cluster"])
            with open_jobs(options["file"]) as file:
                rows = table.rows(file.lines())
                totals = import_rows(kind="csv", file=file, rows=rows, at=at)
        except (MappingRefused, FileUnreadable, OSError) as refused:
            raise CommandError(str(refused)) from refused
        try:
            _count_pool(table, cluster=options["cluster"] or mapping.cluster, at=at)
        except CapacityOutsideLife as refused:
            print(f"The jobs are in, but: {refused.message}", file=sys.stderr)
        print_figures(totals, as_json=options["json"])


def _count_pool(table: JobTable, *, cluster: str, at: datetime) -> None:
    pool = table.mapping.pool
    counts = table.count.dated() if table.count is not None else ()
    if pool is None or not counts:
        return
    described = EnteredPool(
        name=pool.name,
        provider=pool.provider,
        purchase_option=pool.purchase_option,
        region=pool.region,
        instance_type=pool.instance_type,
        gpu_model=pool.gpu_model,
        unit=pool.unit,
    )
    window = table.mapping.clip
    is_over = window.ends_at is not None and window.ends_at <= at
    counted = CountedPool(
        described=described,
        cluster=cluster,
        counts=counts,
        begins_at=window.starts_at,
        ends_at=pool.ends_at or (window.ends_at if is_over else None),
        may_go_on=pool.ends_at is None,
    )
    count_pool(pool=counted, at=at)
