"""Run web, worker and beat together until told to stop."""

import dataclasses
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.queries import first_person_secret
from controlplane import processes
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.standing import served
from controlplane.first_person import first_person_words, local_origin
from controlplane.settings import ENVIRONMENT, HOME


class Command(BaseCommand):
    """`manage.py up`: everything an installation needs, on one machine."""

    help = "Run web, worker and beat together; stops them cleanly on SIGTERM or Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The address may be given here instead of in RUNRATE_LISTEN."""
        parser.add_argument("--listen", default=ENVIRONMENT.listen, help="host:port of the console")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, watch, stop."""
        listen = options["listen"]
        chosen = dataclasses.replace(ENVIRONMENT, listen=listen)
        self.stderr.write(f"Console on {local_origin(listen)} — stop with Ctrl-C")
        secret = first_person_secret()
        if secret:
            self.stderr.write(first_person_words(secret, listen, ENVIRONMENT.trusted_origins))
        try:
            with served(HOME):
                processes.supervise(
                    [
                        processes.web(chosen, listen),
                        processes.workers(),
                        processes.beat(chosen),
                    ]
                )
        except (processes.GivenUp, CopyRefused) as problem:
            raise CommandError(str(problem)) from problem
