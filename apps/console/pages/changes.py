"""Forms that show what will change before it does: fields, what was entered, and the effects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TypeVar

from django.http import QueryDict

from apps.console.pages.frame import Choice, Frame, Link

LONGEST_TEXT = 200

Meant = TypeVar("Meant")


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of a form with what was entered; `problem` says what is wrong with that.

    `kind` is the type of its input, or `select` with `choices`.
    """

    name: str
    label: str
    value: str
    kind: str = "text"
    problem: str = ""
    hint: str = ""
    choices: tuple[Choice, ...] = ()


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


def moment(zone: tzinfo) -> Callable[[str], datetime]:
    """Reads a day or a time of it, of the organisation's zone where no offset is said."""

    def read(text: str) -> datetime:
        try:
            said = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError("Say a day and a time, as in 2026-03-31 14:00.") from None
        local = said.replace(tzinfo=zone) if said.tzinfo is None else said
        try:
            return local.astimezone(UTC)
        except OverflowError:
            raise ValueError("This is beyond the calendar.") from None

    return read


def moment_or_none(zone: tzinfo) -> Callable[[str], datetime | None]:
    """The same; nothing entered means no end."""
    read = moment(zone)
    return lambda text: read(text) if text else None


def one_of(choices: Mapping[str, str]) -> Callable[[str], str]:
    """Reads one of these keys."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError("Choose one of the list.")
        return text

    return read


def as_entered(at: datetime, zone: tzinfo) -> str:
    """A moment as an input of type datetime-local takes it, to the minute."""
    return f"{at.astimezone(zone):%Y-%m-%dT%H:%M}"
