"""Kept scenarios and their runs, for those who may see them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from apps.accounts.queries import OrganisationFact, Role, Viewer
from apps.economics.hours import first_hour
from apps.ledger.queries.calendar import local_day
from apps.planning.models import KeptScenario, ScenarioRun

SETTLED_AFTER = timedelta(hours=6)
"""After midnight of the week's first day, until when the last day of the week before is settled."""
NEWEST_RUN = Subquery(
    ScenarioRun.objects.filter(scenario=OuterRef("pk")).order_by("-ran_at").values("pk")[:1]
)
NEWEST_ANSWER = Subquery(
    ScenarioRun.objects.filter(scenario=OuterRef("pk"), refusal="")
    .order_by("-ran_at")
    .values("pk")[:1]
)


@dataclass(frozen=True, slots=True)
class ScenarioRunFact:
    """A run; see the table for what each field is."""

    id: int
    ran_at: datetime
    is_asked: bool
    digest: str
    measured: dict[str, Any] | None
    answer: dict[str, Any]
    advice: str
    refusal: str
    flipped_from: str
    moved: list[dict[str, Any]]

    def figure(self, *path: str) -> Any:
        """A figure of the answer by its names; None where the run has none."""
        found: Any = self.answer
        for name in path:
            found = found.get(name) if found else None
        return found


@dataclass(frozen=True, slots=True)
class KeptScenarioFact:
    """A scenario with its newest run and its newest answer; None before there is one."""

    id: int
    name: str
    owner_id: int | None
    team_id: int | None
    service_id: int | None
    text: str
    created_at: datetime
    changed_at: datetime
    asked_at: datetime
    newest: ScenarioRunFact | None
    answered: ScenarioRunFact | None

    @property
    def is_waiting(self) -> bool:
        """Whether a run is asked for that was not made yet."""
        return self.newest is None or self.newest.ran_at < self.asked_at


def may_keep(viewer: Viewer, team_id: int | None) -> bool:
    """Whether a scenario of this team (None: of the organisation) is theirs to keep and to change.

    Finance and platform, a team's leads, and tokens that manage the organisation.
    """
    return may_keep_any(viewer) and viewer.sees_team(team_id)


def may_keep_any(viewer: Viewer) -> bool:
    """Whether scenarios are theirs to keep at all, be it of some teams alone."""
    return viewer.may_manage if viewer.person_id is None else viewer.role != Role.VIEWER


def kept_scenarios(team_ids: frozenset[int] | None) -> list[KeptScenarioFact]:
    """Those that these teams (None: who sees everything) may see, by name."""
    rows = list(
        _seen(team_ids)
        .annotate(newest_id=NEWEST_RUN, answered_id=NEWEST_ANSWER)
        .order_by("name", "id")
    )
    ids = {each for row in rows for each in (row.newest_id, row.answered_id)}
    runs = {
        run.id: run for run in map(_run_fact, _runs_without_inputs().filter(id__in=ids - {None}))
    }
    return [_scenario_fact(row, runs.get(row.newest_id), runs.get(row.answered_id)) for row in rows]


def kept_scenario(scenario_id: int, team_ids: frozenset[int] | None) -> KeptScenarioFact | None:
    """One; None where there is none that these teams may see."""
    row = _seen(team_ids).filter(id=scenario_id).first()
    if row is None:
        return None
    runs = _runs_without_inputs().filter(scenario_id=scenario_id).order_by("-ran_at")
    newest, answered = runs.first(), runs.filter(refusal="").first()
    return _scenario_fact(
        row,
        None if newest is None else _run_fact(newest),
        None if answered is None else _run_fact(answered),
    )


def scenario_runs(scenario_id: int) -> list[ScenarioRunFact]:
    """All runs of a scenario, the newest first."""
    runs = _runs_without_inputs().filter(scenario_id=scenario_id).order_by("-ran_at")
    return [_run_fact(run) for run in runs]


def run_inputs(run_id: int) -> dict[str, Any]:
    """The document that a run answered."""
    inputs: dict[str, Any] = ScenarioRun.objects.values_list("inputs", flat=True).get(id=run_id)
    return inputs


def scenarios_due(at: datetime, chosen: OrganisationFact) -> list[int]:
    """Scenarios to be run now, by id: asked for since their last run, or not run this week."""
    return list(_due(at, chosen).order_by("id").values_list("id", flat=True))


def is_scenario_due(scenario_id: int, at: datetime, chosen: OrganisationFact) -> bool:
    """Whether this one still is."""
    return _due(at, chosen).filter(id=scenario_id).exists()


def _due(at: datetime, chosen: OrganisationFact) -> QuerySet[KeptScenario]:
    day = local_day(at - SETTLED_AFTER, chosen.zone)
    monday = day - timedelta(days=(day.isoweekday() - chosen.week_starts_on) % 7)
    week = first_hour(monday, chosen.zone) + SETTLED_AFTER
    last = Subquery(
        ScenarioRun.objects.filter(scenario=OuterRef("pk")).order_by("-ran_at").values("ran_at")[:1]
    )
    return KeptScenario.objects.annotate(last=last).filter(
        Q(last=None) | Q(last__lt=week) | Q(last__lt=F("asked_at"))
    )


def _seen(team_ids: frozenset[int] | None) -> QuerySet[KeptScenario]:
    found = KeptScenario.objects.all()
    return found if team_ids is None else found.filter(team_id__in=team_ids)


def _runs_without_inputs() -> QuerySet[ScenarioRun]:
    return ScenarioRun.objects.defer("inputs")


def _run_fact(run: ScenarioRun) -> ScenarioRunFact:
    return ScenarioRunFact(**{name: getattr(run, name) for name in ScenarioRunFact.__slots__})


def _scenario_fact(
    row: KeptScenario, newest: ScenarioRunFact | None, answered: ScenarioRunFact | None
) -> KeptScenarioFact:
    known: dict[str, Any] = {"newest": newest, "answered": answered}
    names = [name for name in KeptScenarioFact.__slots__ if name not in known]
    return KeptScenarioFact(**known, **{name: getattr(row, name) for name in names})
