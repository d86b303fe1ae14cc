"""Spans that were set aside and are to be read again by spellings that have grown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.workloads.models import SetAsideSpan

AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class AsideSpan:
    """A span to be read again; `content` is what of it is kept."""

    source: str
    key: str
    parent_id: str
    content: Mapping[str, Any]


def spans_to_read_again(*, source: str, table_version: str) -> list[tuple[int, AsideSpan]]:
    """Return spans of a sender that were last read by other spellings, the oldest first."""
    rows = SetAsideSpan.objects.filter(source=source).exclude(table_version=table_version)
    fields = ("id", "source", "key", "parent_id", "content")
    return [
        (id_, AsideSpan(*span)) for id_, *span in rows.order_by("id").values_list(*fields)[:AT_ONCE]
    ]
