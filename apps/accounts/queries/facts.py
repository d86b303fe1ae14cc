"""Rows of a table as the frozen values that other apps get."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from django.db.models import QuerySet

Fact = TypeVar("Fact")


def facts_of(shape: type[Fact], rows: "QuerySet[Any]", **columns: str) -> Iterable[Fact]:
    """Return a value of this dataclass for each row; an array is a tuple.

    Its fields are the columns of the rows; `columns` says which one a field is that is called otherwise.
    """
    names = field_names(shape)
    for row in rows.values_list(*columns_of(shape, **columns)):
        yield shape(**dict(zip(names, map(_frozen, row), strict=True)))


def fact_of(shape: type[Fact], row: Mapping[str, Any], **columns: str) -> Fact:
    """Return a value of this dataclass for a row by column, as `facts_of` does."""
    return shape(**{name: _frozen(row[columns.get(name, name)]) for name in field_names(shape)})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def columns_of(shape: Any, **columns: str) -> list[str]:
    """Return the columns that `fact_of` reads."""
    return [columns.get(name, name) for name in field_names(shape)]


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, as they are: the columns of its table."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def field_names(shape: Any) -> list[str]:
    """Return the names of the fields of a dataclass, those of its bases first."""
    return [field.name for field in fields(shape)]
