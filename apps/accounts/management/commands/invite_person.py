"""Invite someone by a link with which they choose a password."""

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts import actions
from apps.accounts.queries import Role, person_of_address, teams
from apps.accounts.queries.invitation_paths import invitation_path
from apps.economics.refusal import Refusal


class Command(BaseCommand):
    """`manage.py invite_person EMAIL --name NAME --role ROLE --team TEAM`."""

    help = "Print a link with which a person chooses a password, once; --again for a lost password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Who they are, and where this installation is reached."""
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--name", default="")
        parser.add_argument("--role", default=Role.VIEWER, choices=Role.values)
        parser.add_argument("--team", action="append", default=[], help="by name; may be repeated")
        parser.add_argument("--again", action="store_true", help="a new link for who is known")
        parser.add_argument("--origin", help="https://… as people reach it")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the link, or say why there is none."""
        try:
            invited = _invite_again(options) if options["again"] else _invite_new(options)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        origins = [*settings.CSRF_TRUSTED_ORIGINS, "http://127.0.0.1:8000"]
        origin = (options["origin"] or origins[0]).rstrip("/")
        link = origin + invitation_path(invited.secret)
        if options["json"]:
            self.stdout.write(json.dumps({"id": invited.person_id, "link": link}))
        else:
            self.stdout.write(f"{link}\nIt works once, until {invited.expires_at:%Y-%m-%d %H:%M}Z.")


def _invite_again(options: dict[str, Any]) -> actions.Invited:
    person_id = person_of_address(options["email"])
    if person_id is None:
        raise CommandError(f"nobody signs in as {options['email']}")
    return actions.invite_again(person_id=person_id, invited_by_id=None, at=timezone.now())


def _invite_new(options: dict[str, Any]) -> actions.Invited:
    ids = {team.name: team.id for team in teams()}
    unknown = [name for name in options["team"] if name not in ids]
    if unknown:
        raise CommandError(f"--team: there is no team named {unknown[0]!r}")
    person = actions.NewPerson(
        email=options["email"],
        name=options["name"],
        role=options["role"],
        team_ids=frozenset(ids[name] for name in options["team"]),
    )
    return actions.invite_person(person=person, invited_by_id=None, at=timezone.now())
