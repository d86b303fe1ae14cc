"""The parameters of sums and lines of costs, refused one by one where they are not understood."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.conf import settings
from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from apps.accounts import queries as accounts
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.ledger import queries
from apps.web.rest.strict import ids_named, refuse_others, words_given
from apps.workloads import queries as workloads

DEFAULT_WINDOW = "7d"
TAG = "tag."
SINGLE = ("window", "basis")
LISTS = ("group_by", "team", "workload", "pool", "state")
STATES = {state.name.lower(): int(state) for state in State}


def groups_asked(given: QueryDict) -> tuple[str, ...]:
    """What costs are to be grouped by; refuses a ValidationError that names what is none of it."""
    names = words_given(*given.getlist("group_by"))
    refuse_others("group_by", names, queries.groupable())
    return tuple(names)


def chosen_costs(given: QueryDict, viewer: accounts.Viewer, at: datetime) -> queries.CostFilter:
    """Which costs the parameters name; refuses a ValidationError that names each bad one.

    A viewer who does not see everything asks about their own teams: others are as if there were
    none, and their workloads too.
    """
    return queries.CostFilter(
        window=window_asked(given.get("window", DEFAULT_WINDOW), at),
        basis=_basis_of(given.get("basis", queries.Basis.EFFECTIVE)),
        team_ids=_team_ids(given, viewer),
        workload_ids=_ids_named(given, "workload", _workload_ids(viewer)),
        pool_ids=_ids_named(given, "pool", {p.name: [p.id] for p in fleet.pools().values()}),
        states=_ids_named(given, "state", {word: [state] for word, state in STATES.items()}),
        tags={name.removeprefix(TAG): str(given[name]) for name in given if name.startswith(TAG)},
    )


def window_asked(text: str, at: datetime) -> queries.Window:
    """The window that `text` names at a moment; refuses a ValidationError that names `window`."""
    organisation = accounts.organisation()
    calendar = queries.calendar_of(organisation.zone, organisation.week_starts_on, at)
    try:
        return queries.window_of(text, calendar)
    except (queries.WindowNotUnderstood, queries.WindowCutsADay) as refusal:
        raise ValidationError({"window": [str(refusal)]}) from refusal


def refuse_unknown(given: QueryDict, single: Sequence[str], lists: Sequence[str]) -> None:
    """Refuse parameters that are none of these or a tag's, and single ones given twice."""
    known = {*single, *lists, *(TAG + key for key in settings.TAG_KEYS)}
    problems = {
        name: [f"there is no parameter {name!r}; there are {', '.join(sorted(known))}"]
        for name in given
        if name not in known
    }
    problems |= {
        name: ["given more than once"]
        for name in given
        if name in known and name not in lists and len(given.getlist(name)) > 1
    }
    if problems:
        raise ValidationError(problems)


def _basis_of(text: str) -> queries.Basis:
    try:
        return queries.Basis(text)
    except ValueError:
        words = ", ".join(queries.Basis)
        raise ValidationError({"basis": [f"{text!r} is none of {words}"]}) from None


def _ids_named(
    given: QueryDict, parameter: str, ids: Mapping[str, Sequence[int]]
) -> frozenset[int] | None:
    """Ids of the names given; None where the parameter is absent."""
    if parameter not in given:
        return None
    return ids_named(parameter, words_given(*given.getlist(parameter)), ids)


def _team_ids(given: QueryDict, viewer: accounts.Viewer) -> frozenset[int] | None:
    seen = {team.name: [team.id] for team in accounts.teams() if viewer.sees_team(team.id)}
    asked = _ids_named(given, "team", seen)
    return viewer.team_ids if asked is None and not viewer.sees_everything else asked


def _workload_ids(viewer: accounts.Viewer) -> dict[str, list[int]]:
    """Two teams may each have a workload of one name."""
    ids: dict[str, list[int]] = {}
    for workload in workloads.workloads().values():
        if not viewer.sees_team(workload.team_id):
            continue
        ids.setdefault(workload.name, []).append(workload.id)
    return ids
