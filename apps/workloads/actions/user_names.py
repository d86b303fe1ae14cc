"""Names that jobs call a person by, where that name was taken out."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.accounts.queries.arriving import names_taken_out
from apps.economics.jobs import JobEventIn, JobStatement
from apps.personal.names import TakenNames
from apps.workloads.actions.statements import serialize_statement, statement_of
from apps.workloads.models import JobEvent
from apps.workloads.models.personal import STATED

TEXTS = tuple(name for name in STATED if name != "labels")


def reseal_events(ids: Sequence[int]) -> None:
    """Give these statements of jobs the digest of what they say now.

    The same one from a scheduler, whose names are replaced as they arrive, then still changes nothing.
    """
    events = list(JobEvent.objects.filter(id__in=ids))
    for event in events:
        arrived_statement = serialize_statement(statement_of(json.dumps(event.content)))
        event.content, event.digest = (
            json.loads(arrived_statement.content),
            arrived_statement.digest,
        )
    JobEvent.objects.bulk_update(events, ["content", "digest"], batch_size=2000)


def with_pseudonyms(events: Sequence[JobEventIn]) -> Sequence[JobEventIn]:
    """The statements as they may be kept: people whose names were taken out by their pseudonyms."""
    names = names_taken_out({text for event in events for text in _texts_of(event.statement)})
    if names is None:
        return events
    return [
        replace(event, statement=_renamed_statement(event.statement, names)) for event in events
    ]


def _texts_of(statement: JobStatement) -> Iterator[str]:
    yield from (text for name in TEXTS if (text := getattr(statement, name)))
    for key, value in statement.labels:
        yield from (key, value)


def _renamed_statement(statement: JobStatement, names: TakenNames) -> JobStatement:
    texts: dict[str, Any] = {
        name: text and names.in_text(text)
        for name, text in ((name, getattr(statement, name)) for name in TEXTS)
    }
    texts["labels"] = tuple(
        (names.in_text(key), names.in_text(value)) for key, value in statement.labels
    )
    return replace(statement, **texts)
