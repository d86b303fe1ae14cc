"""Arriving data as it may be kept: people whose names were taken out appear by their pseudonyms."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
from django.apps import apps

from apps.accounts.queries.pseudonyms import is_anybody_taken_out, pseudonyms_of
from apps.personal.fields import PersonalField, personal_fields
from apps.personal.names import TakenNames, words_of

Thing = TypeVar("Thing")
Fields = Mapping[str, PersonalField]


@cache
def arriving_personal_fields(table: str, **called: str) -> Fields:
    """The personal columns of a table (`app.model`), by the attribute of what arrives that each is made of.

    That is called as the column is, or as `called` says: `service_named="service"`. What has no such attribute is none of the door's.
    """
    personal_columns = personal_fields(apps.get_model(table))
    return {called.get(name, name): field for name, field in personal_columns.items()}


def pseudonymise(records: Sequence[Thing], *tables: Fields) -> Sequence[Thing]:
    """The things of a delivery as they may be kept in these tables; mostly the very things.

    They are frozen: of dataclasses, named tuples or structs. Everything that a machine or a file brings and that goes
    into a column which is registered as personal comes through here, so that a name that was taken out does not come back.
    """
    fields = {name: field for table in tables for name, field in table.items()}
    texts = {
        text
        for item in records
        for name in fields
        for text in _texts_in(getattr(item, name, None))
        if text
    }
    names = names_taken_out(texts)
    return records if names is None else [_renamed(item, fields, names) for item in records]


def names_taken_out(texts: set[str]) -> TakenNames | None:
    """Those names in the texts that were taken out, with what stands for them; None: there is none, as mostly."""
    if not texts or not is_anybody_taken_out():
        return None
    written = pseudonyms_of({word for text in texts for word in words_of(text)})
    return TakenNames(written) if written else None


def _texts_in(value: Any) -> Iterator[str]:
    """The texts of a value: itself, or those within a document or a list, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts_in(key)
            yield from _texts_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts_in(item)


def _renamed(item: Thing, fields: Fields, names: TakenNames) -> Thing:
    changed = {
        name: new
        for name, field in fields.items()
        if (was := getattr(item, name, None)) is not None
        and (new := field.renamed(was, names)) != was
    }
    if not changed:
        return item
    if isinstance(item, msgspec.Struct):
        return msgspec.structs.replace(item, **changed)
    replaced: Any = item
    if isinstance(item, tuple):
        return replaced._replace(**changed)  # type: ignore[no-any-return]  # a named one
    return dataclasses.replace(replaced, **changed)  # type: ignore[no-any-return]
