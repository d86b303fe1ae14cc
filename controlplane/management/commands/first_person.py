"""Say where the first person comes in, also where the processes are started apart."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.queries import first_person_secret
from controlplane.first_person import first_person_words
from controlplane.settings import ENVIRONMENT


class Command(BaseCommand):
    """`manage.py first_person`: the address that `up` prints as it starts."""

    help = "Print the address that lets the first person in, while nobody can sign in."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where this installation is reached."""
        parser.add_argument("--origin", help="https://… as people reach it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print it, or say that somebody came in already."""
        secret = first_person_secret()
        if secret is None:
            raise CommandError("the first person came in already; invite_person lets others in")
        given = [options["origin"]] if options["origin"] else []
        origins = [*given, *ENVIRONMENT.trusted_origins]
        self.stdout.write(first_person_words(secret, ENVIRONMENT.listen, origins))
