"""Bodies and answers made from dataclasses: a field is declared once, where the thing is.

`class BudgetIn(Body[EnteredBudget])` is a body with a field for each of the dataclass, and its parsed value is one;
`class BudgetOut(Answer[BudgetFact])` answers each, `class RatesAsked(Filters[RatesWanted])` asks by each. What REST says otherwise is declared in the class, as in any
serializer: in the place of the field that is its source, or after the one that is declared before it. `without` names
what is left out.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar, cast, get_args, get_origin

from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request

from apps.show.entries import EntryField, Figure, entry_fields
from apps.web.rest.money import ExactOut, HoursOut, MoneyOut, RatioOut
from apps.web.rest.strict import (
    Id,
    Moment,
    Parameters,
    PatternOfRows,
    StrictInteger,
    StrictSerializer,
    Text,
    parse_body,
)

Shape = TypeVar("Shape")
RestField = serializers.Field[Any, Any, Any, Any]


class AmountIn(PatternOfRows):
    """An exact amount as a JSON string of digits, parsed as a Decimal."""

    def __init__(self, *, digits: int, places: int, **options: Any) -> None:
        fraction = rf"(\.[0-9]{{1,{places}}})?" if places else ""
        length = digits + (places + 1 if places else 0)
        super().__init__(rf"^[0-9]{{1,{digits}}}{fraction}$", **{"max_length": length} | options)

    def run_validation(self, data: Any = empty) -> Any:
        """Return the amount; its validators look at the text."""
        text = super().run_validation(data)
        return Decimal(text) if isinstance(text, str) else text


class TextOrNullOut(serializers.CharField):
    """A text; null where it is empty."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_null": True} | options)

    def to_representation(self, value: Any) -> Any:
        """Return the text, None where it is empty."""
        return value or None


class CountOut(serializers.IntegerField):
    """The number of things in a list."""

    def to_representation(self, value: Any) -> int:
        """Return how many there are."""
        return len(value)


class TextsIn(serializers.ListField):
    """A JSON array of strings, parsed as a tuple."""

    def __init__(self, *, longest: int, **options: Any) -> None:
        super().__init__(child=Text(max_length=longest), **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the texts, frozen."""
        return tuple(super().to_internal_value(data))


class OfShape(Generic[Shape]):
    """The part of a body or an answer that says which dataclass it is of."""

    shape: ClassVar[type[Any]]
    without: ClassVar[tuple[str, ...]] = ()

    def __class_getitem__(cls, shape: Any) -> Any:
        """Return the class of this dataclass."""
        return cls if isinstance(shape, TypeVar) else type(cls.__name__, (cls,), {"shape": shape})


class Body(OfShape[Shape], StrictSerializer):
    """A body whose parsed value is the dataclass that it is of."""

    def get_fields(self) -> dict[str, RestField]:
        """Return the fields of the dataclass, with those that the class declares in their places."""
        return _fields_of(self, _body_field, lambda field: field.name)

    def to_internal_value(self, data: Any) -> Any:
        """Return the dataclass that was sent."""
        return self.made(super().to_internal_value(data))

    def made(self, values: dict[str, Any]) -> Any:
        """Return the dataclass of the parsed fields; a class whose fields are others says how."""
        return self.shape(**values)


class BodyFields(Body[Shape]):
    """A body whose parsed value are the fields by name: what some of them name, only its view can tell."""

    def made(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the parsed fields."""
        return values


class ChangeBody(BodyFields[Shape]):
    """A body that says fields of the dataclass anew; what is left out stays."""

    def get_fields(self) -> dict[str, RestField]:
        """Return the fields of the dataclass, none of which has to be there or stands for what is left out."""
        return _fields_of(self, _changed_field, lambda field: field.name)


class Filters(OfShape[Shape], Parameters):
    """Query parameters with one for each field of the dataclass of what is wanted; one that is not given is left to it."""

    def get_fields(self) -> dict[str, RestField]:
        """Return the parameters, with those that the class declares in their places."""
        return _fields_of(self, _filter_field, lambda field: field.name)

    @classmethod
    def wanted(cls, request: Request, *further: str) -> Shape:
        """Return what the parameters of a request want; refuses a ValidationError that names each bad one.

        `further` are names of parameters that the list reads itself.
        """
        return cast(Shape, cls.shape(**cls.of(request, *further)))


class Answer(OfShape[Shape], serializers.Serializer[Any]):
    """An answer with a field for each of the dataclass that it is of; those of `first` come before the others."""

    first: ClassVar[tuple[str, ...]] = ("id",)

    def get_fields(self) -> dict[str, RestField]:
        """Return the fields of the dataclass, with those that the class declares in their places."""
        answer_fields = _fields_of(self, answer_field, lambda field: field.answered_as)
        first = {name: answer_fields[name] for name in self.first if name in answer_fields}
        return first | answer_fields


def body_fields(shape: Any, without: Collection[str] = ()) -> dict[str, RestField]:
    """Return the fields that parse those of a dataclass, for a body that is of more than one."""
    return {
        field.name: _body_field(field) for field in entry_fields(shape) if field.name not in without
    }


def parse_as(body: type[Body[Shape]], request: Request) -> Shape:
    """Return what the body of a request says, as its dataclass; refuses a ValidationError by field."""
    return cast(Shape, parse_body(body, request))


def _fields_of(
    serializer: "Body[Any] | Answer[Any] | Filters[Any]",
    field_of: Callable[[EntryField], RestField],
    name_of: Callable[[EntryField], str],
) -> dict[str, RestField]:
    # The declared ones are copied for each serializer, which binds them.
    declared = serializers.Serializer.get_fields(serializer)
    by_source = {field.source: name for name, field in declared.items() if field.source}
    shape_fields = entry_fields(serializer.shape)
    # A thing by its name stands where its id would.
    named = {name: name.removesuffix("_id") for name in serializer.without}
    place = {
        field.name: next(
            (
                name
                for name in (field.name, by_source.get(field.name), named.get(field.name))
                if name in declared
            ),
            field.name,
        )
        for field in shape_fields
    }
    further: dict[str, list[str]] = {}
    last = ""
    for name in declared:
        if name in place.values():
            last = name
        else:
            further.setdefault(last, []).append(name)
    rest_fields = {}
    for field in shape_fields:
        name = place[field.name]
        if name in declared:
            rest_fields[name] = declared[name]
            rest_fields |= {extra: declared[extra] for extra in further.pop(name, ())}
        elif field.name not in serializer.without:
            rest_fields[name_of(field)] = field_of(field)
    return rest_fields | declared


def _optional(field: EntryField) -> dict[str, Any]:
    options: dict[str, Any] = {"help_text": field.entry.help} if field.entry.help else {}
    if field.is_required:
        return options
    default = None if field.default is MISSING else field.default
    return (
        options
        | {"required": False, "default": default}
        | ({"allow_null": True} if field.is_optional else {})
    )


def _body_field(field: EntryField) -> RestField:
    """Return the field that parses one of a body, by its type and its entry."""
    entry, options = field.entry, _optional(field)
    if field.type is str:
        return _body_text(field, options)
    bounds: dict[str, Any] = {"min_value": entry.least, "max_value": entry.most}
    if field.type is int:
        return StrictInteger(**bounds, **options)
    if field.type is float:
        return serializers.FloatField(**bounds, **options)
    if field.type is Decimal:
        return AmountIn(digits=entry.digits, places=entry.places, **options)
    if field.type == Mapping[str, Decimal]:
        amount = AmountIn(digits=entry.digits, places=entry.places)
        # A default is made anew for each body.
        new_default = {"default": dict} if "default" in options else {}
        return serializers.DictField(child=amount, **options | new_default)
    if field.type == tuple[str, ...]:
        return TextsIn(
            longest=entry.longest, min_length=entry.least, max_length=entry.most, **options
        )
    if field.type in PLAIN_BODY:
        return PLAIN_BODY[field.type](**options)
    raise TypeError(f"{field.name}: a body has no field for {field.type}; declare it in the class")


def _changed_field(field: EntryField) -> RestField:
    rest_field = _body_field(field)
    rest_field.required, rest_field.default = False, empty
    return rest_field


def _body_text(field: EntryField, options: dict[str, Any]) -> RestField:
    """Return the field that parses a text: one of its choices, of its pattern, or any."""
    entry = field.entry
    if entry.choices:
        return serializers.ChoiceField(choices=tuple(entry.choices), **options)
    if not field.is_required and field.default == "":
        options |= {"allow_blank": True}
    if entry.pattern:
        return PatternOfRows(entry.pattern, max_length=entry.longest, **options)
    return Text(max_length=entry.longest, **options)


def _filter_field(field: EntryField) -> RestField:
    """Return the parameter that parses a text of an address, by the type of the field and its entry."""
    entry = field.entry
    options: dict[str, Any] = {"required": False}
    if entry.help:
        options["help_text"] = entry.help
    if entry.choices:
        return serializers.ChoiceField(choices=tuple(entry.choices), **options)
    return PLAIN_FILTER[field.type](**options)


PLAIN_FILTER: Mapping[type[Any], Callable[..., RestField]] = {
    str: Text,
    int: Id,
    bool: serializers.BooleanField,
    datetime: Moment,
}
PLAIN_BODY: Mapping[type[Any], Callable[..., RestField]] = {
    bool: serializers.BooleanField,
    date: serializers.DateField,
    datetime: Moment,
}
FIGURES: Mapping[Figure, Callable[..., RestField]] = {
    Figure.MICROS: MoneyOut,
    Figure.MILLISECONDS: HoursOut,
    Figure.RATIO: RatioOut,
}
PLAIN_ANSWER: Mapping[type[Any], Callable[..., RestField]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    date: serializers.DateField,
    datetime: serializers.DateTimeField,
    Decimal: ExactOut,
}


def answer_field(field: EntryField, help_text: str = "") -> RestField:
    """Return the field that answers one of a dataclass, by its figure or its type; `help_text` describes one that says nothing itself."""
    help_text = field.entry.help or help_text
    options: dict[str, Any] = {"help_text": help_text} if help_text else {}
    if field.is_optional:
        options["allow_null"] = True
    if field.answered_as != field.name:
        options["source"] = field.name
    if field.figure is not None:
        return FIGURES[field.figure](**options)
    if field.type is str and field.entry.choices:
        return serializers.ChoiceField(choices=tuple(field.entry.choices), **options)
    rest_field = _field_of_type(field.type, options)
    if rest_field is None:
        raise TypeError(
            f"{field.name}: an answer has no field for {field.type}; declare it in the class"
        )
    return rest_field


def _field_of_type(kind: Any, options: dict[str, Any]) -> RestField | None:
    """Return the field that answers values of a type; None where it has none."""
    if is_dataclass(kind):
        return answer_of(cast(Any, kind))(**options)
    if kind in PLAIN_ANSWER:
        return PLAIN_ANSWER[kind](**options)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return serializers.ChoiceField(choices=[str(member) for member in kind], **options)
    container, parts = get_origin(kind), get_args(kind)
    if container in (tuple, list, frozenset, Sequence):
        if is_dataclass(parts[0]):
            return answer_of(cast(Any, parts[0]))(many=True, **options)
        return serializers.ListField(child=PLAIN_ANSWER[parts[0]](), **options)
    if container in (dict, Mapping):
        return serializers.DictField(child=PLAIN_ANSWER[parts[1]](), **options)
    return None


@cache
def answer_of(shape: Any) -> type[Answer[Any]]:
    """Return the answer of a dataclass that needs nothing said otherwise, named as it with `Out`."""
    name = f"{shape.__name__.removesuffix('Fact')}Out"
    return cast(type[Answer[Any]], type(name, (Answer[shape],), {"__doc__": shape.__doc__}))
