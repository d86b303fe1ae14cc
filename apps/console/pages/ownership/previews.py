"""What a change of rules would move: jobs, GPU-hours and money, from whom to whom."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from apps.console.pages.ownership.names import Names
from apps.console.pages.ownership.values import MoveRow, Preview
from apps.economics.money import sum_of_known
from apps.economics.ownership import Rule
from apps.ledger.queries import cost_of_jobs
from apps.workloads.queries import Move, RulePreview


def gain_preview(rule: Rule, moved: RulePreview, called: Names, first_day: date | None) -> Preview:
    """What a new rule would bring its owner."""
    taker = called.owner(rule.team_id, rule.workload_id)
    rows = []
    for move in moved.moves:
        owner = called.owner(move.team_id, move.workload_id)
        costs = cost_of_jobs(move.job_ids, move.team_id, move.workload_id, first_day)
        micros = sum_of_known(cost.micros for cost in costs)
        unpriced = sum(cost.unpriced_milliseconds for cost in costs)
        row = _row(owner, taker, move, micros, unpriced)
        hrefs = (
            called.owner_href(move.team_id, move.workload_id),
            called.owner_href(rule.team_id, rule.workload_id),
        )
        rows.append(replace(row, from_href=hrefs[0], to_href=hrefs[1]))
    return _preview(moved, rows)


def loss_preview(rule: Rule, moved: RulePreview, called: Names, first_day: date | None) -> Preview:
    """What would go where if a kept rule ended on that day."""
    loser = called.owner(rule.team_id, rule.workload_id)
    rows = []
    for move in moved.moves:
        owner = called.owner(move.team_id, move.workload_id)
        costs = cost_of_jobs(move.job_ids, rule.team_id, rule.workload_id, first_day)
        micros = sum_of_known(cost.micros for cost in costs)
        unpriced = sum(cost.unpriced_milliseconds for cost in costs)
        row = _row(loser, owner, move, micros, unpriced)
        hrefs = (
            called.owner_href(rule.team_id, rule.workload_id),
            called.owner_href(move.team_id, move.workload_id),
        )
        rows.append(replace(row, from_href=hrefs[0], to_href=hrefs[1]))
    return _preview(moved, rows)


def _row(giver: str, taker: str, move: Move, micros: int | None, unpriced: int) -> MoveRow:
    return MoveRow(
        from_owner=giver,
        to_owner=taker,
        jobs=move.jobs,
        gpu_milliseconds=int(move.gpu_milliseconds),
        cost_micros=micros,
        unpriced_milliseconds=unpriced,
    )


def _preview(moved: RulePreview, rows: Sequence[MoveRow]) -> Preview:
    return Preview(
        matched_jobs=moved.matched_jobs,
        matched_milliseconds=int(moved.matched_gpu_milliseconds),
        moves=tuple(rows),
        total=MoveRow(
            from_owner="Total",
            to_owner="",
            jobs=sum(row.jobs for row in rows),
            gpu_milliseconds=sum(row.gpu_milliseconds for row in rows),
            cost_micros=sum_of_known(row.cost_micros for row in rows),
            unpriced_milliseconds=sum(row.unpriced_milliseconds for row in rows),
        ),
    )
