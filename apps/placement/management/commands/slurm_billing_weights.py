"""Print TRESBillingWeights for a cluster's slurm.conf."""

import json
import shlex
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import has_organisation, organisation
from apps.fleet import queries as fleet
from apps.fleet.queries import ClusterFact
from apps.placement.queries.slurm_weights import (
    CENTS,
    MOST_SCALE,
    PartitionWeights,
    slurm_billing_weights,
)


class Command(BaseCommand):
    """`manage.py slurm_billing_weights --cluster atlas`: what a GPU and a core of each partition bill an hour."""

    help = "Print TRESBillingWeights by what the ledger charges (docs/guides/slurm.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Of which cluster and partition, in which unit and form."""
        parser.add_argument("--cluster", help="its name; needed where there are several")
        parser.add_argument("--partition", help="this one alone")
        parser.add_argument(
            "--scale",
            type=_scale_of,
            default=CENTS,
            help=f"units of one unit of the currency ({CENTS}: cents); Slurm cuts fractions of a job's sum",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--scontrol", action="store_true", help="as commands, until a restart")
        form.add_argument("--json", action="store_true", help="one line")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each partition's weights and how they came to be."""
        if not has_organisation():
            raise CommandError("there is no organisation yet")
        cluster, at = _cluster_named(options["cluster"]), timezone.now()
        weights = slurm_billing_weights(cluster.id, at, scale=options["scale"])
        if options["partition"]:
            weights = [
                slurm_billing_weight
                for slurm_billing_weight in weights
                if slurm_billing_weight.partition == options["partition"]
            ]
            if not weights:
                raise CommandError(f"no pool of {cluster.name} is known as {options['partition']}")
        if options["json"]:
            self.stdout.write(
                json.dumps(
                    [_weights_document(slurm_billing_weight) for slurm_billing_weight in weights]
                )
            )
            return
        unit = f"1/{options['scale']} {organisation().currency}"
        self.stdout.write(
            f"# Billing weights of cluster {cluster.name}: {unit} an hour of each TRES"
        )
        types = sorted({gpu_type for row in weights for gpu_type in row.gpu_types})
        tracked = ",".join(["gres/gpu", *(f"gres/gpu:{type_}" for type_ in types)])
        self.stdout.write(f"# They need AccountingStorageTRES={tracked}")
        for row in weights:
            self._print_partition(row, as_command=options["scontrol"])

    def _print_partition(self, row: PartitionWeights, *, as_command: bool) -> None:
        self.stdout.write("")
        for reason in row.reasons:
            self.stdout.write(f"# {row.partition}: {' '.join(reason.split())}")
        if not row.option:
            self.stdout.write(f"# {row.partition}: no weights")
        elif as_command:
            # Names of partitions come with jobs, and this is for a shell.
            name = shlex.quote(row.partition)
            self.stdout.write(f"scontrol update PartitionName={name} {row.option}")
        else:
            self.stdout.write(f"# add to the line of PartitionName={row.partition}:")
            self.stdout.write(row.option)


def _weights_document(row: PartitionWeights) -> dict[str, Any]:
    return {
        "partition": row.partition,
        "weights": {name: f"{weight:f}" for name, weight in row.weights.items()},
        "option": row.option,
        "reasons": row.reasons,
    }


def _cluster_named(name: str | None) -> ClusterFact:
    clusters = [cluster for cluster in fleet.clusters().values() if name in (None, cluster.name)]
    if len(clusters) != 1:
        cluster_names = ", ".join(cluster.name for cluster in fleet.clusters().values()) or "none"
        raise CommandError(f"say which cluster with --cluster; there are: {cluster_names}")
    return clusters[0]


def _scale_of(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= MOST_SCALE:
        raise ArgumentTypeError(f"{text!r} is not a whole number of 1 to {MOST_SCALE:,}")
    return int(text)
