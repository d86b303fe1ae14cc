"""Whatever the schema allows, and much that it forbids, is answered as the schema says."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from tests.contract.described import document, operations
from tests.contract.world import World

load_all_checks()
# Ids, names and moments that a schema allows need not exist, or suit each other.
NOT_MEANT = {
    "positive_data_acceptance",
    "use_after_free",
    "ensure_resource_availability",
    "object_level_authorization",
}
# A bulk keeps its good rows and says by row what is wrong with the others.
ROW_BY_ROW = {
    "POST /api/v1/jobs/bulk",
    "POST /api/v1/request-hours",
    "POST /api/v1/run-reports",
    *(f"POST /api/v1/usage-events{door}" for door in ("", "/litellm", "/otel")),
}
CHOSEN = [CHECKS.get_one(name) for name in CHECKS.get_all_names() if name not in NOT_MEANT]
LABELS = [f"{method.upper()} {path}" for path, method, _ in operations()]


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """A request outside Django's own test client closes the connection that the test is made in."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("label", LABELS)
def test_a_few_requests_that_the_schema_forbids_find_nothing(world: World, label: str) -> None:
    # Of what it allows, every operation's examples are sent beside this.
    fuzz(world, label, examples=2, modes=[GenerationMode.NEGATIVE])


@pytest.mark.proof
@pytest.mark.parametrize("label", LABELS)
def test_many_generated_requests_find_nothing(world: World, label: str) -> None:
    fuzz(world, label, examples=50, modes=GenerationMode)


@cache
def described_service() -> Any:
    """What the schema says and the service that has to answer so; reading it takes a second or two."""
    schema = schemathesis.openapi.from_dict(document())
    schema.app = get_wsgi_application()
    return schema


def fuzz(world: World, label: str, *, examples: int, modes: Iterable[GenerationMode]) -> None:
    """Send generated requests to one operation, with the token that may do everything."""
    unfit = ["negative_data_rejection"] if label in ROW_BY_ROW else []
    checks = [check for check in CHOSEN if check.__name__ not in unfit]
    # In process nobody unpacks an answer.
    headers = world.headers | {"Accept-Encoding": "identity"}
    method, _, path = label.partition(" ")
    operation = described_service()[path][method]
    for mode in modes:
        strategy = operation.as_strategy(generation_mode=mode)

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=strategy)
        def answers_as_described(case: schemathesis.Case) -> None:
            with_ids(case, world)
            case.call_and_validate(headers=headers, checks=checks)

        answers_as_described()


def with_ids(case: schemathesis.Case, world: World) -> None:
    """Every other id is one that exists."""
    for name, value in (case.path_parameters or {}).items():
        if name in world.paths and isinstance(value, int) and value % 2:
            case.path_parameters[name] = world.paths[name]
