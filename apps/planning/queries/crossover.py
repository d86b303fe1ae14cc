"""Kept scenarios and their runs, for those who may see them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from apps.accounts.queries import OrganisationFact, Role, Viewer
from apps.economics.hours import first_hour
from apps.ledger.queries.calendar import local_day
from apps.planning.models import KeptScenario, ScenarioRun

FLIP_TOLD = timedelta(weeks=4)
"""So long a flip stands above what was answered since."""
SETTLED_AFTER = timedelta(hours=6)
"""After midnight of the week's first day, until when the last day of the week before is settled."""
OF_SCENARIO = ScenarioRun.objects.filter(scenario=OuterRef("pk")).order_by("-ran_at").values("pk")
NEWEST = {
    "newest": OF_SCENARIO,
    "answered": OF_SCENARIO.filter(refusal=""),
    "flipped": OF_SCENARIO.exclude(flipped_from=""),
}
"""The runs of a scenario that are told with it."""


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
        value: Any = self.answer
        for name in path:
            value = value.get(name) if value else None
        return value


@dataclass(frozen=True, slots=True)
class SavedScenarioFact:
    """A scenario with its newest run and its newest answer; None before there is one.

    `flipped` is the newest run that advised otherwise than the one before, where it is of the last
    weeks: runs that said the same again since do not take it away.
    """

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
    flipped: ScenarioRunFact | None

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


def saved_scenarios(team_ids: frozenset[int] | None) -> list[SavedScenarioFact]:
    """Those that these teams (None: who sees everything) may see, by name."""
    return _scenario_facts(_visible_scenarios(team_ids).order_by("name", "id"))


def saved_scenario(scenario_id: int, team_ids: frozenset[int] | None) -> SavedScenarioFact | None:
    """One; None where there is none that these teams may see."""
    return next(iter(_scenario_facts(_visible_scenarios(team_ids).filter(id=scenario_id))), None)


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


def _visible_scenarios(team_ids: frozenset[int] | None) -> QuerySet[KeptScenario]:
    scenarios = KeptScenario.objects.all()
    return scenarios if team_ids is None else scenarios.filter(team_id__in=team_ids)


def _runs_without_inputs() -> QuerySet[ScenarioRun]:
    return ScenarioRun.objects.defer("inputs")


def _run_fact(run: ScenarioRun) -> ScenarioRunFact:
    return ScenarioRunFact(**{name: getattr(run, name) for name in ScenarioRunFact.__slots__})


def _scenario_facts(scenarios: QuerySet[KeptScenario]) -> list[SavedScenarioFact]:
    annotations = {f"{name}_run": Subquery(runs[:1]) for name, runs in NEWEST.items()}
    rows = list(scenarios.annotate(**annotations))
    ids = {getattr(row, name) for row in rows for name in annotations} - {None}
    runs = {run.id: run for run in map(_run_fact, _runs_without_inputs().filter(id__in=ids))}
    return [
        _scenario_fact(row, **{name: runs.get(getattr(row, f"{name}_run")) for name in NEWEST})
        for row in rows
    ]


def _scenario_fact(
    row: KeptScenario,
    newest: ScenarioRunFact | None,
    answered: ScenarioRunFact | None,
    flipped: ScenarioRunFact | None,
) -> SavedScenarioFact:
    if flipped and answered and answered.ran_at - flipped.ran_at > FLIP_TOLD:
        flipped = None
    runs: dict[str, Any] = {"newest": newest, "answered": answered, "flipped": flipped}
    names = [name for name in SavedScenarioFact.__slots__ if name not in runs]
    return SavedScenarioFact(**runs, **{name: getattr(row, name) for name in names})
