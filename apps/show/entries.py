"""How a field of what people enter is asked for: its form and its REST body are made from this one declaration.

A thing that people enter is a frozen dataclass; a field of it is `Annotated[<type>, Entry(…)]`. A field
whose type has None, or that has a default, may be left out.
"""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from enum import Enum, auto
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """How one field is asked for.

    `label` stands before it on a page and `hint` below it; `help` describes it over REST. `choices` are
    the keys that it may have, with their words where they are shown; `is_picked` says that only the request
    knows them. A text is at most `longest` characters, of the form `pattern`, and not empty where `needed` says what to enter;
    a number is from `least` to `most`, a list has from `least` to `most` things, an amount has so many `digits` before and `places` after its point.
    `example` shows what an amount looks like, `initial` is what a form begins with; with `is_now` a moment begins as
    the current hour.
    """

    label: str = ""
    hint: str = ""
    help: str = ""
    choices: Mapping[str, str] | Collection[str] = ()
    is_picked: bool = False
    needed: str = ""
    longest: int = LONGEST_TEXT
    pattern: str = ""
    least: float | None = None
    most: float | None = None
    digits: int = 15
    places: int = 9
    example: str = ""
    initial: str = ""
    is_now: bool = False

    @property
    def words_of_choices(self) -> Mapping[str, str]:
        """Return the words of each key that it may have; the key itself where nothing else is said."""
        return (
            self.choices
            if isinstance(self.choices, Mapping)
            else {key: key for key in self.choices}
        )


class Figure(Enum):
    """A kind of number that the type of a field does not tell; REST answers it as that."""

    MICROS = auto()
    MILLISECONDS = auto()
    RATIO = auto()


Micros = Annotated[int, Figure.MICROS]
"""Micro-units of money; answered as an amount."""
Milliseconds = Annotated[int, Figure.MILLISECONDS]
"""GPU-milliseconds and the like; answered in hours."""
Ratio = Annotated[float, Figure.RATIO]
"""A share, or another figure without a unit."""


@dataclass(frozen=True, slots=True)
class EntryField:
    """A field of a dataclass: its type without None and without Annotated, and how it is asked for."""

    name: str
    type: Any
    is_optional: bool
    entry: Entry
    default: Any = MISSING
    figure: Figure | None = None

    @property
    def is_required(self) -> bool:
        """Whether it has to be entered: nothing stands for it where it is left out."""
        return self.default is MISSING and not self.is_optional

    @property
    def answered_as(self) -> str:
        """Its name in an answer: `cost` what is kept as `cost_micros`, `gpu_hours` what is `gpu_milliseconds`."""
        if self.figure is Figure.MICROS:
            return self.name.removesuffix("_micros")
        if self.figure is Figure.MILLISECONDS and self.name.endswith("milliseconds"):
            return f"{self.name.removesuffix('milliseconds')}hours"
        return self.name


def entry_fields(shape: type[Any]) -> list[EntryField]:
    """Return the fields of a dataclass in their order, those of its bases first."""
    hints = get_type_hints(shape, include_extras=True)
    return [_entry_field(field, hints[field.name]) for field in fields(shape)]


def entry_field_of(shape: type[Any], name: str) -> EntryField:
    """Return the field of that name, or what a property of that name gives; refuses an AttributeError where there is none."""
    declared = next((field for field in fields(shape) if field.name == name), None)
    if declared is not None:
        return _entry_field(declared, get_type_hints(shape, include_extras=True)[name])
    getter = getattr(shape, name)
    if not isinstance(getter, property) or getter.fget is None:
        raise AttributeError(f"{shape.__name__}.{name} is neither a field nor a property")
    hints = get_type_hints(getter.fget, include_extras=True)
    return entry_field_from(name, hints["return"])


def _entry_field(field: Field[Any], hint: Any) -> EntryField:
    default = field.default
    if field.default_factory is not MISSING:
        default = field.default_factory()
    return entry_field_from(field.name, hint, default)


def entry_field_from(name: str, hint: Any, default: Any = MISSING) -> EntryField:
    """Return the field of that name and type hint."""
    hint, marks = _unmarked(hint)
    is_optional = get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)
    if is_optional:
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
        hint, inner_marks = _unmarked(hint)
        marks += inner_marks
    return EntryField(
        name,
        hint,
        is_optional,
        next((mark for mark in marks if isinstance(mark, Entry)), Entry()),
        default,
        next((mark for mark in marks if isinstance(mark, Figure)), None),
    )


def _unmarked(hint: Any) -> tuple[Any, list[Any]]:
    """Return a type without Annotated, and what it was annotated with."""
    if get_origin(hint) is not Annotated:
        return hint, []
    hint, *marks = get_args(hint)
    return hint, marks


def entered(shape: type[Any], values: Mapping[str, Any]) -> Any:
    """Make one of these values by field; what is None is left to the default of a field that cannot be None."""
    kinds = {field.name: field for field in entry_fields(shape)}
    return shape(
        **{
            name: float(value) if kinds[name].type is float and value is not None else value
            for name, value in values.items()
            if value is not None or kinds[name].is_optional
        }
    )
