"""Let someone sign in."""

import json
import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts import actions
from apps.accounts.queries import Role
from apps.economics.refusal import Refusal
from apps.files.limits import KIBIBYTE
from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text


class Command(BaseCommand):
    """`manage.py add_person EMAIL --name NAME --role ROLE`."""

    help = "Add a person; without a password file one is made and shown once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Who they are; a password never stands on the command line, where others can read it."""
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--name", required=True)
        parser.add_argument("--role", default=Role.VIEWER, choices=Role.values)
        parser.add_argument("--password-file", type=Path, help="its first line is the password")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add them, or say why not."""
        generated_password = None if options["password_file"] else secrets.token_urlsafe(12)
        try:
            person_id = actions.add_person(
                email=options["email"],
                name=options["name"],
                role=options["role"],
                password=generated_password or _first_line(options["password_file"]),
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            self.stdout.write(json.dumps({"id": person_id, "password": generated_password}))
        elif generated_password is None:
            self.stdout.write(f"{options['email']} can sign in.")
        else:
            self.stdout.write(
                f"{options['email']} can sign in with the password {generated_password}"
            )


def _first_line(path: Path) -> str:
    try:
        lines = read_small_text(path, KIBIBYTE).splitlines()
    except (FileUnreadable, OSError) as problem:
        raise CommandError(f"--password-file: {problem}") from problem
    if not lines:
        raise CommandError(f"--password-file: {path} is empty")
    return lines[0]
