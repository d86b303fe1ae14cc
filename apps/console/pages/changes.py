"""Forms that show what will change before it does: fields, what was entered, and the effects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TypeVar

from django.http import QueryDict

from apps.console.kit.entries import LONGEST_TEXT, moment
from apps.console.kit.form import Field
from apps.console.kit.frame import Choice, Frame, Link

Meant = TypeVar("Meant")


@dataclass(frozen=True, slots=True)
class ChangePage:
    """A change that somebody thinks of: `effects` say what it would do, `confirm` does it.

    Without `confirm` there is nothing to do yet; `cannot` says why the whole is refused.
    """

    frame: Frame
    finding: str
    explanation: str
    back: Link
    here: str
    fields: tuple[Field, ...]
    effects: tuple[str, ...] = ()
    confirm: str = ""
    cannot: str = ""


class Entries:
    """What was entered, read field by field; each is kept as it was, with what is wrong of it."""

    def __init__(self, given: QueryDict, defaults: Mapping[str, str]) -> None:
        self.texts = {
            name: given.get(name, default).strip()[:LONGEST_TEXT]
            for name, default in defaults.items()
        }
        self.problems: dict[str, str] = {}
        self.is_asked = any(name in given for name in defaults)

    def read(self, name: str, meaning: Callable[[str], Meant]) -> Meant | None:
        """What the field means; None where that refuses with ValueError."""
        try:
            return meaning(self.texts[name])
        except ValueError as problem:
            self.problems[name] = str(problem)
            return None

    def refused(self, name: str, problem: str) -> None:
        """Say of a field what the action said; the first word of each field stands."""
        self.problems.setdefault(name if name in self.texts else next(iter(self.texts)), problem)

    def field(self, name: str, label: str, kind: str = "text", hint: str = "") -> Field:
        """The entry as it is drawn."""
        return Field(name, label, self.texts[name], kind, problem=self._problem(name), hint=hint)

    def choice(self, name: str, label: str, choices: Mapping[str, str], hint: str = "") -> Field:
        """An entry that is one of these."""
        entered = self.texts[name]
        return Field(
            name,
            label,
            entered,
            "select",
            problem=self._problem(name),
            hint=hint,
            choices=tuple(Choice(key, text, key == entered) for key, text in choices.items()),
        )

    def confirm(self, words: str) -> str:
        """What the button that does it says; nothing is done that was not looked at first."""
        return words if self.is_asked and not self.problems else ""

    def _problem(self, name: str) -> str:
        # A form that was only opened has nothing wrong in it yet.
        return self.problems.get(name, "") if self.is_asked else ""


def moment_or_none(zone: tzinfo) -> Callable[[str], datetime | None]:
    """The same; nothing entered means no end."""
    read = moment(zone)
    return lambda text: read(text) if text else None
