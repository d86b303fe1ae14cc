"""Rows of a table as the frozen values that other apps get."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar

from django.db.models import QuerySet

Fact = TypeVar("Fact")


def facts_of(shape: type[Fact], rows: "QuerySet[Any]") -> Iterable[Fact]:
    """Return a value of this dataclass for each row, whose columns are its fields; an array is a tuple."""
    names = field_names(shape)
    for row in rows.values_list(*names):
        values = (tuple(value) if isinstance(value, list) else value for value in row)
        yield shape(**dict(zip(names, values, strict=True)))


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, as they are: the columns of its table."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def field_names(shape: Any) -> list[str]:
    """Return the names of the fields of a dataclass, those of its bases first."""
    return [field.name for field in fields(shape)]
