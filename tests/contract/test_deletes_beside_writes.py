"""Every DELETE of the REST surface beside a write that hangs something on what it removes.

The other write has begun and is not committed when the request comes. The request waits for it and
is answered in JSON; nothing is left that hangs on what is gone.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import IntegrityError, connections, models, transaction
from django.test import Client

from apps.ledger.models import Export
from apps.planning.models import (
    Budget,
    DemandEvent,
    KeptScenario,
    PlannedItem,
    ScenarioRun,
    WhatIfPlan,
)
from apps.review.models import AlertChannel, AlertMessage, ChartNote
from controlplane import statement_limits
from controlplane.statement_limits import Limits
from tests import make
from tests.contract.described import operations
from tests.contract.world import World, make_world
from tests.databases import meanwhile

pytestmark = pytest.mark.django_db(transaction=True)
CROSSOVER = "/api/v1/crossovers/{scenario_id}"
Hanging = Callable[[int], object]


def _locked(model: type[models.Model]) -> Hanging:
    """As a row that names this one holds it, until it is committed."""
    return lambda key: model._base_manager.select_for_update().get(pk=key)


def _run(scenario_id: int) -> object:
    """As a worker writes one."""
    _locked(KeptScenario)(scenario_id)
    return _run_alone(scenario_id)


def _run_alone(scenario_id: int) -> object:
    return ScenarioRun.objects.create(
        scenario_id=scenario_id, ran_at=make.NOON + timedelta(days=9), is_asked=False,
        answer={}, advice="", moved=[], refusal="it was refused", inputs={}, digest="",
    )  # fmt: skip


def _item(plan_id: int) -> object:
    _locked(WhatIfPlan)(plan_id)
    return PlannedItem.objects.create(
        plan_id=plan_id, kind="training", name="another", starts_on=make.NOON.date(), inputs={}
    )


def _message(channel_id: int) -> object:
    _locked(AlertChannel)(channel_id)
    return AlertMessage.objects.create(
        channel_id=channel_id, is_test=True, made_at=make.NOON, due_at=make.NOON
    )


HANGS: dict[str, tuple[type[models.Model], str, Hanging]] = {
    "/api/v1/alert-channels/{channel_id}": (AlertChannel, "channel_id", _message),
    "/api/v1/annotations/{chart_note_id}": (ChartNote, "chart_note_id", _locked(ChartNote)),
    "/api/v1/budgets/{budget_id}": (Budget, "budget_id", _locked(Budget)),
    "/api/v1/crossovers/{scenario_id}": (KeptScenario, "scenario_id", _run),
    "/api/v1/demand-events/{demand_event_id}": (
        DemandEvent, "demand_event_id", _locked(DemandEvent),
    ),
    "/api/v1/exports/{export_id}": (Export, "export_id", _locked(Export)),
    "/api/v1/plans/{plan_id}": (WhatIfPlan, "plan_id", _item),
    "/api/v1/plans/{plan_id}/items/{item_id}": (PlannedItem, "item_id", _locked(PlannedItem)),
}  # fmt: skip
"""What is removed at each address, and what another transaction hangs on it meanwhile."""


@pytest.fixture
def committed_world(settings: Any, tmp_path: Any) -> World:
    settings.HOME = tmp_path
    settings.API_REQUESTS_PER_MINUTE = dict.fromkeys(settings.API_REQUESTS_PER_MINUTE, 10**9)
    cache.clear()
    return make_world()


def _delete(world: World, path: str) -> Any:
    client = Client(raise_request_exception=False)
    return client.delete(path.format(**world.paths), headers=world.headers)


def test_every_removal_is_known_here() -> None:
    assert {path for path, method, _ in operations() if method == "delete"} == set(HANGS)


def test_a_removal_waits_for_what_is_being_hung_on_it(committed_world: World) -> None:
    # Items before their plan.
    for path in sorted(HANGS, reverse=True):
        _, parameter, hang = HANGS[path]
        key = committed_world.paths[parameter]
        begun = meanwhile(lambda: hang(key), lambda: _delete(committed_world, path))  # noqa: B023
        answer: Any = begun.result()
        assert answer.status_code in {200, 204}, (path, answer.content)
    kept = {
        path
        for path, (model, parameter, _) in HANGS.items()
        if model._base_manager.filter(pk=committed_world.paths[parameter]).exists()
    }
    # These stay on record as ended.
    assert kept == {"/api/v1/alert-channels/{channel_id}", "/api/v1/exports/{export_id}"}
    assert not ScenarioRun.objects.filter(scenario_id=committed_world.paths["scenario_id"]).exists()
    assert not PlannedItem.objects.filter(plan_id=committed_world.paths["plan_id"]).exists()


def test_what_is_hung_on_it_without_a_lock_is_what_fails(committed_world: World) -> None:
    key = committed_world.paths["scenario_id"]
    answers: list[Any] = []

    def write_while_it_is_removed() -> None:
        with transaction.atomic():
            _run_alone(key)
            answers.append(beside(lambda: _delete(committed_world, CROSSOVER)))

    with pytest.raises(IntegrityError):
        write_while_it_is_removed()
    assert [answer.status_code for answer in answers] == [200]
    assert not KeptScenario.objects.exists()


def test_a_removal_that_waits_too_long_says_so_and_removes_nothing(
    committed_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statement_limits, "_process", [Limits(lock=1)])
    monkeypatch.setattr(statement_limits, "WEB", Limits(lock=1))
    key = committed_world.paths["scenario_id"]
    with transaction.atomic():
        _run(key)
        answer = beside(lambda: _delete(committed_world, CROSSOVER))
    assert answer.status_code == 409
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["title"] == "Being changed by another"
    assert int(answer["Retry-After"]) > 0
    assert KeptScenario.objects.filter(pk=key).exists()


def beside(act: Callable[[], Any]) -> Any:
    """What comes of it on a connection of its own, while this one's transaction is open."""

    def alone() -> Any:
        try:
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(alone).result(60)
