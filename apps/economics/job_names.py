"""The texts of a job that are names, by which other things are found, and which of them cannot be."""

from collections.abc import Iterator

from apps.economics.jobs import JobEventIn
from apps.economics.machines import MOST_NAME, name_fault

MOST_LABEL_TEXT = 1_000


def name_faults(event: JobEventIn) -> Iterator[tuple[str, str]]:
    """Yield each field whose name has markup, characters that are not seen or too many, and why.

    A cluster, an id, a node, a device or a label by another name would be another one. Of other
    texts what is not seen is replaced as they are read (`machines.printable_text`).
    """
    for field, text, most in _names_of_event(event):
        if fault := name_fault(text, most):
            yield field, fault


def _names_of_event(event: JobEventIn) -> Iterator[tuple[str, str, int]]:
    yield "cluster", event.cluster, MOST_NAME
    yield "raw_id", event.raw_id, MOST_NAME
    for key, text in event.statement.labels:
        yield "labels", key, MOST_NAME
        yield f"labels.{key}", text, MOST_LABEL_TEXT
    for place, allocation in enumerate(event.statement.allocations or ()):
        yield f"allocations[{place}].node", allocation.node, MOST_NAME
        for number, device in enumerate(allocation.devices or ()):
            yield f"allocations[{place}].devices[{number}]", device, MOST_NAME
