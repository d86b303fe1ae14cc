"""Say whose jobs are."""

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.queries import teams
from apps.economics.hours import HOUR_MS
from apps.economics.ownership import TEXT_MATCHES, Rule
from apps.economics.refusal import Refusal
from apps.economics.typed import parse_moment
from apps.fleet.queries import clusters
from apps.workloads.actions import rules
from apps.workloads.queries import RuleFact, preview_rule


class Command(BaseCommand):
    """`manage.py add_rule Research --account llm-pretrain`: what it moves is shown first."""

    help = "Give the jobs that match everything said here to a team; --preview changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which team, which jobs, since when."""
        parser.add_argument("team", metavar="TEAM")
        parser.add_argument("--cluster")
        for name in (*TEXT_MATCHES, "label", "name"):
            parser.add_argument(f"--{name}", default="")
        parser.add_argument("--priority", type=int, default=100, help="the lowest goes first")
        parser.add_argument(
            "--from", dest="starts_at", type=parse_moment, help="default: since ever"
        )
        parser.add_argument("--to", dest="ends_at", type=parse_moment)
        parser.add_argument("--preview", action="store_true", help="only show what would move")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Show, add, or say why not."""
        at = timezone.now()
        rule = RuleFact(_parse_rule(options), options["starts_at"], options["ends_at"])
        moved = preview_rule(rule, at)
        hours = sum(float(move.gpu_milliseconds) for move in moved.moves) / HOUR_MS
        summary = {
            "id": None,
            "matched_jobs": moved.matched_jobs,
            "moved_gpu_hours": round(hours, 6),
        }
        if not options["preview"]:
            summary["id"] = _add_or_refuse(rule, at)
        if options["json"]:
            self.stdout.write(json.dumps(summary))
            return
        verb = "would move" if options["preview"] else "move"
        self.stdout.write(
            f"{moved.matched_jobs} jobs match; {hours:,.1f} GPU-hours {verb} to {options['team']}."
        )


def _parse_rule(options: dict[str, Any]) -> Rule:
    conditions = {name: options[name] for name in (*TEXT_MATCHES, "label", "name")}
    cluster = options["cluster"]
    if not any(conditions.values()) and not cluster:
        raise CommandError("say which jobs: by --cluster, --account, --user or another option")
    return Rule(
        priority=options["priority"],
        team_id=_id_by_name("team", options["team"], {team.name: team.id for team in teams()}),
        cluster_id=_id_by_name(
            "cluster",
            cluster,
            {known_cluster.name: known_cluster.id for known_cluster in clusters().values()},
        )
        if cluster
        else None,
        **conditions,
    )


def _add_or_refuse(rule: RuleFact, at: datetime) -> int:
    try:
        return rules.add_rule(rule=rule, at=at)
    except Refusal as refusal:
        raise CommandError(str(refusal)) from refusal


def _id_by_name(noun: str, name: str, ids: dict[str, int]) -> int:
    if name not in ids:
        raise CommandError(f"there is no {noun} named {name!r}")
    return ids[name]
