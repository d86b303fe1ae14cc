"""What waits in Setup as CSV, a table for each kind of question, every row of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.queries import organisation
from apps.console.kit.cells import hours_cell, moment_cell, money_cell, text_cell
from apps.console.kit.request import SEES_EVERYTHING, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.setup.questions import question_named
from apps.console.pages.setup.values import (
    RejectedWindows,
    SilentNode,
    UnclaimedWork,
    UnconfirmedNode,
    UnknownNode,
    UnownedAccount,
    UnpricedPool,
)

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The columns of a question's table; `cells` makes a row of them, given the currency."""

    header: Cells
    cells: Callable[[Any, str], Cells]


@require_safe
@shown_to(SEES_EVERYTHING)
def question_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Everything of one kind that waits."""
    chosen, sheet = organisation(), SHEETS[name]
    asked = question_named(name, timezone.now(), chosen)
    rows = [sheet.cells(row, chosen.currency) for row in asked.every]
    return csv_answer(name.replace("_", " "), sheet.header, rows)


def _unconfirmed(row: UnconfirmedNode, _: str) -> Cells:
    said = (row.node, row.pool, row.devices, row.expected, " ".join(row.uuids))
    return [*map(text_cell, said), moment_cell(row.first_seen_at)]


def _unknown(row: UnknownNode, _: str) -> Cells:
    span = map(moment_cell, (row.first_named_at, row.last_named_at))
    return [text_cell(row.name), text_cell(row.cluster), str(row.jobs), *span]


def _silent(row: SilentNode, _: str) -> Cells:
    seconds = "" if row.silent_for is None else f"{row.silent_for.total_seconds():.0f}"
    return [text_cell(row.name), text_cell(row.pool), seconds, moment_cell(row.last_seen_at)]


def _unpriced(row: UnpricedPool, _: str) -> Cells:
    said = map(text_cell, (row.name, row.gpu_model, row.purchase_option))
    return [*said, hours_cell(row.milliseconds), row.since.isoformat()]


def _unclaimed(row: UnclaimedWork, currency: str) -> Cells:
    return [
        text_cell(row.key),
        text_cell(row.pool),
        hours_cell(row.gpu_milliseconds),
        money_cell(row.cost_micros, currency),
        currency,
        moment_cell(row.last_seen_at),
    ]


def _unowned(row: UnownedAccount, _: str) -> Cells:
    said = map(text_cell, (row.account, row.bears, row.cluster))
    return [*said, str(row.jobs), hours_cell(row.gpu_milliseconds)]


def _rejected(row: RejectedWindows, _: str) -> Cells:
    said = map(text_cell, (row.agent, row.field, row.reason))
    kept = "yes" if row.is_kept else "no"
    return [*said, str(row.windows), moment_cell(row.last_at), kept]


SHEETS: Mapping[str, Sheet] = {
    "unconfirmed_nodes": Sheet(
        ("node", "pool", "devices", "expected", "uuids", "first_seen_at"), _unconfirmed
    ),
    "unknown_nodes": Sheet(
        ("node", "cluster", "jobs", "first_named_at", "last_named_at"), _unknown
    ),
    "silent_nodes": Sheet(("node", "pool", "silent_seconds", "last_heard_at"), _silent),
    "unpriced_pools": Sheet(
        ("pool", "gpu_model", "purchase_option", "gpu_hours", "since"), _unpriced
    ),
    "unclaimed_work": Sheet(
        ("holder_key", "pool", "gpu_hours", "cost", "currency", "last_seen_at"), _unclaimed
    ),
    "unowned_accounts": Sheet(("name", "of", "cluster", "jobs", "gpu_hours"), _unowned),
    "rejected_windows": Sheet(
        ("agent", "field", "reason", "windows", "last_at", "windows_kept"), _rejected
    ),
}
