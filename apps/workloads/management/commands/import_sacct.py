"""Read jobs from what `sacct --parsable2` wrote."""

from argparse import ArgumentParser
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.files.lines import FileUnreadable
from apps.workloads.management.job_import import import_rows, print_figures
from apps.workloads.providers.gpu_tracking import knowing_clusters
from apps.workloads.providers.job_file import open_jobs
from apps.workloads.providers.sacct import SacctOptions, read_sacct
from apps.workloads.providers.sacct_layout import LayoutUnknown, named_fields
from apps.workloads.queries.imports import clusters_with_gpus_accounted

UNNAMED_CLUSTER = "slurm"


class Command(BaseCommand):
    """`manage.py import_sacct FILE`: safe to run again, every rejected row told."""

    help = "Import jobs from a file of `sacct --parsable2`; docs/guides/import-jobs.md tells how."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, and what it does not say itself."""
        parser.add_argument("file", metavar="FILE", help="plain, gzip or zip; - for standard input")
        parser.add_argument("--fields", help="field names in order, where there is no header")
        parser.add_argument("--cluster", default="", help="whose jobs these are")
        parser.add_argument("--zone", default="UTC", help="of times without a zone (default UTC)")
        parser.add_argument("--shards-per-gpu", type=int, help="what gres/shard is worth")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the file and print what came of it."""
        chosen = _sacct_options(options)
        try:
            with open_jobs(options["file"]) as file:
                chosen = knowing_clusters(file, chosen, clusters_with_gpus_accounted())
                rows = read_sacct(file.lines(), options=chosen)
                totals = import_rows(kind="sacct", file=file, rows=rows, at=timezone.now())
        except (LayoutUnknown, FileUnreadable, OSError) as refused:
            raise CommandError(str(refused)) from refused
        print_figures(totals, as_json=options["json"])


def _sacct_options(options: dict[str, Any]) -> SacctOptions:
    try:
        zone = ZoneInfo(options["zone"])
    except (ZoneInfoNotFoundError, ValueError):
        raise CommandError(f"--zone: there is no time zone {options['zone']!r}") from None
    shards_per_gpu = options["shards_per_gpu"]
    if shards_per_gpu is not None and shards_per_gpu < 1:
        raise CommandError("--shards-per-gpu: must be at least 1")
    return SacctOptions(
        fields=named_fields(options["fields"]) if options["fields"] else None,
        cluster=options["cluster"],
        unnamed_cluster=UNNAMED_CLUSTER,
        zone=zone,
        shards_per_gpu=shards_per_gpu,
    )
