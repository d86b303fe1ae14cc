"""Enter what was bought ahead."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.refusal import Refusal
from apps.pricing import actions
from apps.pricing.management.commitment_file import (
    CommitmentFileUnreadable,
    Entry,
    read_commitments,
)


class Command(BaseCommand):
    """`manage.py add_commitment --file reserved.toml`: one, or several as `[[commitments]]`."""

    help = "Enter reservations, savings plans, committed use and capacity blocks from a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add arguments for the file, and how to print the answer."""
        parser.add_argument("--file", type=Path, required=True)
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Enter each, and say of those that are refused why; the others are kept."""
        try:
            entries = read_commitments(options["file"])
        except CommitmentFileUnreadable as problem:
            raise CommandError(str(problem)) from problem
        added: list[int] = []
        rejected: list[dict[str, object]] = []
        for entry in entries:
            commitment_id, reason = _entered_commitment(entry)
            if commitment_id is None or entry.commitment is None:
                self.stderr.write(f"commitment {entry.number}: {reason}")
                rejected.append({"number": entry.number, "reason": reason})
            else:
                added.append(commitment_id)
                for remark in actions.unknown_names(actions.as_pools_say(entry.commitment)):
                    self.stderr.write(f"commitment {entry.number}: {remark}")
        if options["json"]:
            self.stdout.write(json.dumps({"added": added, "rejected": rejected}))
        elif added:
            self.stdout.write(f"{len(added)} entered; past hours are charged again.")
        if rejected:
            raise CommandError(f"{len(rejected)} of {len(entries)} were refused")


def _entered_commitment(entry: Entry) -> tuple[int | None, str]:
    if entry.commitment is None:
        return None, entry.reason
    try:
        return actions.add_commitment(commitment=entry.commitment, at=timezone.now()), ""
    except Refusal as refusal:
        return None, str(refusal)
