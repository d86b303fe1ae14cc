"""Admissions as a caller is shown them: of its own teams and cluster, without limits that are not theirs to see."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.placement.models import JobAdmission
from apps.placement.queries.admission_limits import ALLOW, BUDGET_LIMIT
from apps.placement.queries.admissions import AdmissionFact, AdmissionsWanted, admission
from apps.placement.queries.placement_scope import PlacementScope
from apps.planning.queries.budgets import budgets

NOT_SHOWN_LIMIT = "a limit that is not this caller's to see"


def visible_budget_ids(scope: PlacementScope) -> frozenset[int] | None:
    """The budgets of which this caller sees amounts, as in the list of budgets; None: every limit, quotas too."""
    if scope.sees_limits:
        return None
    return frozenset(budget.id for budget in budgets(scope.team_ids))


def is_limit_shown(limit: Mapping[str, Any], seen_budgets: frozenset[int] | None) -> bool:
    """Whether the name and the figures of a limit are shown; of quotas only to who sees every limit."""
    if seen_budgets is None:
        return True
    return limit["kind"] == BUDGET_LIMIT and limit["id"] in seen_budgets


def shown_limits(
    fact: AdmissionFact, seen_budgets: frozenset[int] | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """The limits that are shown, and the answers of others that did not allow it: those that decided come first."""
    shown = [limit for limit in fact.limits if is_limit_shown(limit, seen_budgets)]
    hidden = [limit["verdict"] for limit in fact.limits if not is_limit_shown(limit, seen_budgets)]
    return shown, [verdict for verdict in hidden if verdict != ALLOW]


def visible_admission(admission_id: int, scope: PlacementScope) -> AdmissionFact:
    """One of this caller's; refuses JobAdmission.DoesNotExist, also where it is not theirs."""
    fact = admission(admission_id)
    pool_ids = scope.pool_ids
    is_in_reach = pool_ids is None or fact.job["pool_id"] in pool_ids
    if not (is_in_reach and scope.covers_team(fact.team_id)):
        raise JobAdmission.DoesNotExist
    return fact


def admissions_within(wanted: AdmissionsWanted, scope: PlacementScope) -> AdmissionsWanted:
    """Return the admissions that are wanted, as far as they are of this caller's teams and pools."""
    if scope.team_ids is not None:
        chosen = scope.team_ids if wanted.team_ids is None else wanted.team_ids & scope.team_ids
        wanted = replace(wanted, team_ids=chosen)
    return replace(wanted, pool_ids=scope.pool_ids)
