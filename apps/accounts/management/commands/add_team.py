"""Add a team."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts import actions
from apps.accounts.queries import teams
from apps.economics.refusal import Refusal


class Command(BaseCommand):
    """`manage.py add_team Research --cost-centre CC-1100`."""

    help = "Add a team, which ownership rules can then give jobs to."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments of a team: its name, where it hangs and what finance books to."""
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--parent", help="the team it is a part of")
        parser.add_argument("--cost-centre", default="")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add it, or say why not."""
        parent = options["parent"]
        try:
            team_id = actions.add_team(
                name=options["name"],
                parent_id=_team_named(parent) if parent else None,
                cost_centre=options["cost_centre"],
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        message = f"Team {options['name']} added."
        self.stdout.write(json.dumps({"id": team_id}) if options["json"] else message)


def _team_named(name: str) -> int:
    for team in teams():
        if team.name == name:
            return team.id
    raise CommandError(f"there is no team named {name!r}")
