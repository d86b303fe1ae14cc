"""Entries of forms: texts, choices, moments of the organisation's zone, days, amounts, numbers, ticks."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from math import inf
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from django import forms

from apps.economics.hours import hour_of
from apps.files.limits import BodyKind, size_words
from apps.show.entries import LONGEST_TEXT
from apps.web.rest.body_limits import largest_file_of

FALSE = frozenset({"", "no"})
LONGEST_LIST = 2_000
LONGEST_PASSWORD = 4_096
EARLIEST, LATEST = date(1970, 1, 2), date(3000, 1, 1)

Meant = TypeVar("Meant")


class TextField(forms.CharField):
    """A text; empty where nothing was entered, unless `needed` says that something is."""

    kind = "text"

    def __init__(
        self,
        label: str,
        hint: str = "",
        *,
        initial: str = "",
        needed: str = "",
        longest: int = LONGEST_TEXT,
    ) -> None:
        too_long = f"Say it in at most {longest:,} characters."
        super().__init__(
            label=label,
            help_text=hint,
            initial=initial,
            required=bool(needed),
            max_length=longest,
            error_messages={"max_length": too_long, "required": needed},
        )


class ParsedField(TextField):
    """A text that `meaning` reads; it refuses by a ValueError in a sentence."""

    def __init__(
        self,
        label: str,
        meaning: Callable[[str], Any],
        hint: str = "",
        *,
        initial: str = "",
        longest: int = LONGEST_TEXT,
    ) -> None:
        self.meaning = meaning
        super().__init__(label, hint, initial=initial, longest=longest)

    def clean(self, value: Any) -> Any:
        """Return the value that the text means."""
        text = super().clean(value)
        try:
            return self.meaning(text)
        except ValueError as problem:
            raise forms.ValidationError(str(problem)) from None


class PasswordField(TextField):
    """A new password, as it was typed; it is never shown again."""

    kind = "password"
    autocomplete = "new-password"

    def __init__(self, label: str, *, needed: str) -> None:
        super().__init__(label, needed=needed, longest=LONGEST_PASSWORD)
        self.strip = False


class LinesField(ParsedField):
    """Several lines of text, which `meaning` reads; so many `rows` are shown at once."""

    kind = "lines"

    def __init__(
        self,
        label: str,
        meaning: Callable[[str], Any],
        hint: str = "",
        *,
        rows: int = 4,
        longest: int = LONGEST_LIST,
    ) -> None:
        self.rows = rows
        super().__init__(label, meaning, hint, longest=longest)


class SliderField(ParsedField):
    """A number from `least` to `most` that is moved along a line; `said` shows it with its unit."""

    kind = "range"

    def __init__(
        self, label: str, *, least: float, most: float, now: float, said: Callable[[float], str]
    ) -> None:
        self.least, self.most, self.said = least, most, said
        super().__init__(label, self._between, initial=repr(now))

    def _between(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = inf
        if not self.least <= number <= self.most:
            ends = f"{self.said(self.least)} to {self.said(self.most)}"
            raise ValueError(f"Say a number from {ends}.")
        return number

    def said_of(self, text: str) -> str:
        """Return what was entered, with its unit; empty where it is no number of the line."""
        try:
            return self.said(self._between(text))
        except ValueError:
            return ""


class PickField(ParsedField):
    """One of the choices; they are passed in where only the request knows them."""

    kind = "select"

    def __init__(
        self, label: str, picks: Mapping[str, str] | None = None, hint: str = "", initial: str = ""
    ) -> None:
        super().__init__(label, str, hint, initial=initial)
        self.offer(picks or {})

    def offer(self, picks: Mapping[str, str]) -> None:
        """Let one of these be chosen, and nothing else."""
        self.picks, self.meaning = picks, one_of(picks)


class TrueOrFalseField(PickField):
    """One of two choices, which means a bool: the key of false is empty or `no`."""

    def clean(self, value: Any) -> bool:
        """Whether the choice of true was made."""
        return super().clean(value) not in FALSE

    def key_of(self, *, value: bool) -> str:
        """Return the key of the choice that means this."""
        return next(key for key in self.picks if (key not in FALSE) == value)


class MomentField(ParsedField):
    """A moment in the organisation's zone; without `is_needed` None where nothing was entered.

    With `is_now` it begins as the hour that has begun.
    """

    kind = "datetime-local"

    def __init__(
        self, label: str, hint: str = "", *, is_needed: bool = True, is_now: bool = False
    ) -> None:
        self.is_needed, self.is_now = is_needed, is_now
        super().__init__(label, moment(UTC), hint)

    def place(self, zone: ZoneInfo, at: datetime) -> None:
        """Read and begin in this zone, which the label names."""
        read = moment(zone)
        self.meaning = read if self.is_needed else or_none(read)
        self.label = f"{self.label} ({zone.key})"
        if self.is_now:
            self.initial = as_entered(hour_of(at), zone)


class DayField(ParsedField):
    """A day of the organisation's zone; without `is_needed` None where nothing was entered."""

    kind = "date"

    def __init__(self, label: str, hint: str = "", *, is_needed: bool = True) -> None:
        super().__init__(label, day_of if is_needed else or_none(day_of), hint)


class TicksField(forms.MultipleChoiceField):
    """Any of the choices, as a list of their keys; `is_needed`: at least one."""

    kind = "ticks"

    def __init__(
        self,
        label: str,
        picks: Mapping[str, str] | None = None,
        hint: str = "",
        *,
        is_needed: bool = False,
    ) -> None:
        wrong = {"required": "Tick at least one.", "invalid_choice": "Tick some of the list."}
        super().__init__(
            label=label, help_text=hint, required=is_needed, error_messages=wrong, initial=()
        )
        self.offer(picks or {})

    def offer(self, picks: Mapping[str, str]) -> None:
        """Let some of these be ticked, and nothing else."""
        self.picks = picks
        self.choices = list(picks.items())


class UploadField(forms.FileField):
    """A file of this kind, at most as large as its limit; `needed` is said where none was chosen."""

    kind = "file"

    def __init__(self, label: str, hint: str = "", *, needed: str, takes: BodyKind) -> None:
        self.takes = takes
        none = {"required": needed, "empty": needed, "invalid": needed}
        super().__init__(label=label, help_text=hint, error_messages=none)

    def clean(self, data: Any, initial: Any = None) -> Any:
        """The file as it was sent."""
        file = super().clean(data, initial)
        most = largest_file_of(self.takes)
        if file.size > most:
            raise forms.ValidationError(f"It is larger than {size_words(most)}.")
        return file


class NumberField(ParsedField):
    """A number that looks as `example` does; without `is_needed` None where nothing was entered."""

    usual = ""

    def __init__(
        self,
        label: str,
        hint: str = "",
        example: str = "",
        *,
        initial: str = "",
        is_needed: bool = False,
    ) -> None:
        read = self.reader(example or self.usual)
        super().__init__(label, read if is_needed else or_none(read), hint, initial=initial)

    def reader(self, example: str) -> Callable[[str], Any]:
        """Return the function that reads a text; it refuses with a ValueError that shows the example."""
        raise NotImplementedError


class AmountField(NumberField):
    """An amount in figures."""

    usual = "1.25"

    def reader(self, example: str) -> Callable[[str], Decimal]:
        """Reads an amount."""
        return amount_like(example)


class NonNegativeIntegerField(NumberField):
    """A whole number from 0."""

    usual = "8"

    def reader(self, example: str) -> Callable[[str], int]:
        """Reads a whole number."""
        return integer_reader(example)


def moment(zone: tzinfo) -> Callable[[str], datetime]:
    """Reads a day or a time of it, of the organisation's zone where no offset is said."""

    def read(text: str) -> datetime:
        try:
            parsed = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError("Say a day and a time, as in 2026-03-31 14:00.") from None
        local = parsed.replace(tzinfo=zone) if parsed.tzinfo is None else parsed
        if not EARLIEST <= local.date() < LATEST:
            raise ValueError("This is beyond the calendar.")
        return local.astimezone(UTC)

    return read


def day_of(text: str) -> date:
    """Reads a day; ValueError in a sentence for anything else."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ValueError("Say a day, as in 2026-11-01.") from None
    if not EARLIEST <= day < LATEST:
        raise ValueError("That day is out of reach.")
    return day


def one_of(choices: Mapping[str, str]) -> Callable[[str], str]:
    """Reads one of these keys."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError("Choose one of the list.")
        return text

    return read


def or_none(read: Callable[[str], Meant]) -> Callable[[str], Meant | None]:
    """Reads the same; None for an empty text."""
    return lambda text: read(text) if text else None


def amount_like(example: str) -> Callable[[str], Decimal]:
    """Reads an amount in figures, as in `example`."""

    def read(text: str) -> Decimal:
        try:
            amount = Decimal(text)
        except InvalidOperation:
            amount = Decimal("NaN")
        if not amount.is_finite():
            raise ValueError(f"Say an amount in figures, as in {example}.")
        return amount

    return read


def integer_reader(example: str) -> Callable[[str], int]:
    """Reads a whole number from 0, as in `example`."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 14):
            raise ValueError(f"Say a whole number, as in {example}.")
        return int(text)

    return read


def as_entered(at: datetime, zone: tzinfo) -> str:
    """A moment as an input of type datetime-local takes it, to the minute."""
    return f"{at.astimezone(zone):%Y-%m-%dT%H:%M}"


def amount_entered(amount: Decimal | None) -> str:
    """An amount as an entry takes it: all its digits and no more; nothing for None."""
    text = "" if amount is None else f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
