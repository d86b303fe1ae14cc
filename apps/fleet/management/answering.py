"""Commands that do one thing and say what came of it."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, TypeAlias

from django.core.exceptions import ObjectDoesNotExist
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.economics.refusal import Refusal

Answer: TypeAlias = tuple[Mapping[str, Any], str]
"""What came of it: for --json, and as a sentence."""


class AnsweringCommand(BaseCommand):
    """Answers in a sentence, or with --json as one line, the last of stdout.

    `options_of` names the option that gave a field, so that what is refused of it says so.
    """

    options_of: ClassVar[Mapping[str, str]] = {}

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Beside those of the command itself."""
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, or say why not."""
        try:
            payload, sentence = self.answer(options, timezone.now())
        except Refusal as refusal:
            option = self.options_of.get(refusal.field)
            words = f"{option}: {refusal.message}" if option else str(refusal)
            raise CommandError(words) from refusal
        except ObjectDoesNotExist as unknown:
            raise CommandError(str(unknown)) from unknown
        self.stdout.write(json.dumps(payload) if options["json"] else sentence)

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Do it; refuses what the action does, and CommandError."""
        raise NotImplementedError
