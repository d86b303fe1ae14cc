"""JSON documents read as frozen values, field by field as their classes annotate them.

A field that a newer server adds is left out; one that an older server lacks has its default.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, TypeVar

Answer = TypeVar("Answer")
Reads = Callable[[Any], Any]
Readers = tuple[tuple["Field[Any]", Reads], ...]
OPTIONAL, LIST, LIST_ENDS = " | None", "tuple[", ", ...]"


class UnreadableAnswer(ValueError):
    """What came is no answer of this kind; the message names the field."""


def read_answer(form: type[Answer], document: Any) -> Answer:
    """A JSON document as a value of `form`, a dataclass with annotations that are texts. Refuses UnreadableAnswer."""
    readers: Readers = _readers_of(form)  # type: ignore[arg-type]  # classes are hashable
    if not isinstance(document, Mapping):
        raise UnreadableAnswer(f"{form.__name__} is no JSON object")
    return form(
        **{
            each.name: _value_of(each, reads, document, form.__name__)
            for each, reads in readers
            if each.name in document or _is_needed(each)
        }
    )


def moment(text: Any) -> datetime:
    """An RFC 3339 moment."""
    told = _of(str)(text)
    # Python 3.9 does not read the Z.
    return datetime.fromisoformat(told[:-1] + "+00:00" if told.endswith("Z") else told)


@cache
def _readers_of(form: Any) -> Readers:
    names = vars(sys.modules[form.__module__])
    return tuple((each, _reader_of(str(each.type), names)) for each in fields(form))


def _reader_of(annotation: str, names: Mapping[str, Any]) -> Reads:
    if annotation.endswith(OPTIONAL):
        reads = _reader_of(annotation[: -len(OPTIONAL)], names)
        return lambda value: None if value is None else reads(value)
    if annotation.startswith(LIST):
        one = _reader_of(annotation[len(LIST) : -len(LIST_ENDS)], names)
        return lambda values: tuple(map(one, _of(list)(values)))
    if is_dataclass(names.get(annotation)):
        form = names[annotation]
        return lambda value: read_answer(form, value)
    return PLAIN[annotation]


def _of(*kinds: type) -> Reads:
    """As it is, where it is of one of these kinds; true and false are no numbers."""

    def reads(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise TypeError(f"{value!r} is not of the kind {kinds[0].__name__}")
        return value

    return reads


def _exact(value: Any) -> Decimal:
    return Decimal(_of(str)(value))


PLAIN: Mapping[str, Reads] = {
    "str": _of(str),
    "int": _of(int),
    "float": _of(float, int),
    "bool": _of(bool),
    "dict[str, int]": _of(dict),
    "datetime": moment,
    "Decimal": _exact,
}


def _is_needed(each: Field[Any]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def _value_of(each: Field[Any], reads: Reads, document: Mapping[str, Any], name: str) -> Any:
    if each.name not in document:
        raise UnreadableAnswer(f"{name} has no {each.name}")
    try:
        return reads(document[each.name])
    except UnreadableAnswer:
        raise
    except (TypeError, ValueError, InvalidOperation) as trouble:
        raise UnreadableAnswer(f"{each.name} of {name}: {trouble}") from trouble
