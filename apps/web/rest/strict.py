"""Bodies and query parameters in which nothing is lost without a word: unknown names are refused."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.core.validators import RegexValidator
from django.http import QueryDict
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import DateTimeField
from rest_framework.request import Request

from apps.show.entries import LONGEST_TEXT as LONGEST_TEXT

UNKNOWN = "unknown field"
# Postgres keeps ids in a bigint; a larger one could not be looked for.
LARGEST_ID = 2**63 - 1
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)


class StrictSerializer(serializers.Serializer[Any]):
    """A body whose fields are all known; each unknown one is refused by its name."""

    def to_internal_value(self, data: Any) -> Any:
        """Return what was sent, parsed, with the unknown fields among the errors."""
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, Mapping) else []
        try:
            value = super().to_internal_value(data)
        except ValidationError as refused:
            if isinstance(refused.detail, dict):
                raise ValidationError(
                    {**refused.detail, **{name: [UNKNOWN] for name in unknown}}
                ) from refused
            raise
        if unknown:
            raise ValidationError({name: [UNKNOWN] for name in unknown})
        return value


class Parameters(serializers.Serializer[Any]):
    """Query parameters; an unknown one, or one given twice, is refused by its name."""

    @classmethod
    def of(cls, request: Request, *further: str, **context: Any) -> dict[str, Any]:
        """The parsed parameters of a request; those not given and without a default are absent.

        `further` are names of parameters that the list reads itself, as it does those of paging.
        """
        query = request.query_params
        parameters = cls(data=_single_values(query), context=context)
        refusals = _parameter_refusals(query, set(parameters.fields) | PAGING | set(further))
        if not parameters.is_valid():
            refusals = {**parameters.errors, **refusals}
        if refusals:
            raise ValidationError(refusals)
        return dict(parameters.validated_data)


PAGING = frozenset({"cursor", "limit"})
"""Names that every list understands."""


class Moment(DateTimeField):
    """An RFC 3339 moment of this century, in UTC.

    One without an offset is refused: nobody could say when it was.
    """

    def enforce_timezone(self, value: datetime) -> datetime:
        """Keep what says its offset."""
        if value.tzinfo is None:
            raise ValidationError("a moment needs an offset, such as 2026-03-02T12:00:00Z")
        return super().enforce_timezone(value)

    def to_internal_value(self, value: Any) -> datetime:
        """The moment, refused where no price and no node could be from."""
        moment: datetime = super().to_internal_value(value)
        if not EARLIEST <= moment < LATEST:
            raise ValidationError(f"a moment is from {EARLIEST:%Y} on and before {LATEST:%Y}")
        return moment


class Text(serializers.CharField):
    """A JSON string: a number is not quietly taken for one."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": LONGEST_TEXT} | kwargs)

    def to_internal_value(self, data: Any) -> str:
        """The text itself."""
        if not isinstance(data, str):
            raise ValidationError("this is a string in JSON")
        return str(super().to_internal_value(data))


class PatternOfRows(Text):
    """A JSON string of one form."""

    def __init__(self, regex: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.validators.append(RegexValidator(regex, "this does not have the form " + regex))


QUOTED_AMOUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,84})?", re.ASCII)
LONGEST_QUOTED = 100
"""Vendors quote some prices with twenty decimals; 9 are kept."""


class QuotedAmount(Text):
    """An amount as a vendor quotes it, in digits.

    Its form is no validator's, which the OpenAPI document would have: the last release's has a narrower one.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=LONGEST_QUOTED, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        """The text itself."""
        text = super().to_internal_value(data)
        if QUOTED_AMOUNT.fullmatch(text) is None:
            raise ValidationError(f"this does not have the form {QUOTED_AMOUNT.pattern}")
        return text


class OptionalText(Text):
    """A text that may be left out or empty."""

    def __init__(self, **kwargs: Any) -> None:
        optional: dict[str, Any] = {"required": False, "allow_blank": True, "default": ""}
        super().__init__(**optional | kwargs)


class StrictInteger(serializers.IntegerField):
    """A JSON integer: neither a string nor a fraction is quietly taken for one."""

    def to_internal_value(self, data: Any) -> int:
        """The number itself."""
        if isinstance(data, bool) or not isinstance(data, int):
            raise ValidationError("this is an integer in JSON")
        return int(super().to_internal_value(data))


class Id(serializers.IntegerField):
    """The id of a thing, as a query parameter."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": LARGEST_ID} | kwargs)


class IdInBody(StrictInteger):
    """The id of a thing, as a field of a body."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": LARGEST_ID} | kwargs)


def parsed(serializer: type[StrictSerializer], request: Request, **context: Any) -> dict[str, Any]:
    """The body of a request as `serializer` understands it; it takes no query parameters."""
    return dict(parse_body(serializer, request, **context))


def parse_body(serializer: type[StrictSerializer], request: Request, **context: Any) -> Any:
    """Return what `serializer` makes of the body of a request; it takes no query parameters."""
    unread = _parameter_refusals(request.query_params, set())
    if unread:
        raise ValidationError(unread)
    if not context:
        try:
            return _create_parser(serializer).run_validation(request.data)
        except ValidationError:
            pass  # said below
    body = serializer(data=request.data, context=context)
    body.is_valid(raise_exception=True)
    return body.validated_data


def parsed_data(serializer: type[StrictSerializer], data: Any) -> dict[str, Any]:
    """A JSON document as `serializer` understands it; refuses a ValidationError."""
    return dict(_create_parser(serializer).run_validation(data))


@cache
def _create_parser(serializer: type[StrictSerializer]) -> StrictSerializer:
    # Making one takes longer than parsing most bodies by it; parsing leaves nothing in it.
    return serializer()


def split_words(*texts: str) -> list[str]:
    """Return the words that parameters say by comma, each word once, in the order given."""
    return list(
        dict.fromkeys(word for text in texts for part in text.split(",") if (word := part.strip()))
    )


def refuse_others(parameter: str, words: Iterable[str], allowed: Collection[str]) -> None:
    """Refuse a ValidationError that names the parameter: a word that is none of these."""
    for word in words:
        if word not in allowed:
            raise ValidationError({parameter: [f"{word!r} is none of {', '.join(allowed)}"]})


def id_named(field: str, name: str | None, ids: Mapping[str, int]) -> int | None:
    """Return the id of what has this name, None without one; refuses a ValidationError of the field."""
    if name is not None and name not in ids:
        raise ValidationError({field: [f"there is no {field} named {name!r}"]})
    return None if name is None else ids[name]


def ids_named(
    parameter: str, names: Iterable[str], ids: Mapping[str, Iterable[int]]
) -> frozenset[int]:
    """The ids of these names (several things may have one); refuses as `refuse_others`, by name."""
    matching_ids: set[int] = set()
    for name in names:
        if name not in ids:
            raise ValidationError({parameter: [f"there is no {parameter} named {name!r}"]})
        matching_ids.update(ids[name])
    return frozenset(matching_ids)


def _single_values(query: QueryDict) -> dict[str, str]:
    return {name: str(query[name]) for name in query if name not in PAGING}


def _parameter_refusals(query: QueryDict, parameter_names: set[str]) -> dict[str, list[str]]:
    refusals = {
        name: [
            f"there is no parameter {name!r}; there are {', '.join(sorted(parameter_names)) or 'none'}"
        ]
        for name in query
        if name not in parameter_names
    }
    return refusals | {
        name: ["given more than once"]
        for name in query
        if name in parameter_names and len(query.getlist(name)) > 1
    }
