"""What services cost is divided over their features, and every part of it adds up to the lines."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.fleet.models import Pool
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.queries.audit import AuditPlace
from apps.unit_economics.models import ServiceCount, ServiceDay, ServicePart, ServiceTotal
from apps.workloads.models import Workload
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import service_scene as services
from tests.apps.unit_economics.service_scene import DOLLAR, GPU_HOUR_MS, HOUR
from tests.planted import undone

pytestmark = pytest.mark.django_db

BASES = ("list_micros", "contracted_micros", "effective_micros", "billed_micros")
CHECK = "parts of a service sum to its lines"
EXAMPLES = max(5, settings.default.max_examples // 5)


@dataclass(frozen=True)
class World:
    team: int
    pools: tuple[int, int]
    chat: int
    batch: int


@pytest.fixture(autouse=True)
def world() -> World:
    make.make_organisation()
    team = make.make_team()
    ensure_month(month=scene.TEN.date().replace(day=1))
    return World(
        team,
        (make.make_pool("h100"), make.make_pool("a100")),
        services.make_service(team),
        services.make_service(team, "nightly", "batch"),
    )


def days(**given: Any) -> list[tuple[str, ServicePart, int | None]]:
    found = ServiceDay.objects.filter(**given).order_by("part", "feature", "state")
    return [(each.feature, ServicePart(each.part), each.effective_micros) for each in found]


def test_features_share_an_hour_by_the_work_of_their_tokens(world: World) -> None:
    services.make_line(world.pools[0], world.team, world.chat, micros=1_000_001)
    services.count(world.chat, feature="ask", requests=3, prompt_tokens=100, output_tokens=50)
    services.count(world.chat, feature="sum", requests=1, prompt_tokens=300, output_tokens=0)

    services.roll_up(world.pools[0])

    assert days() == [
        ("ask", ServicePart.ANSWERED, 500_001),
        ("sum", ServicePart.ANSWERED, 500_000),
    ]
    told = ServiceCount.objects.get(feature="ask")
    assert (told.requests, told.prompt_tokens, told.hours) == (3, 100, 1)
    assert (told.prompt_ms, told.output_ms) == (GPU_HOUR_MS // 6, GPU_HOUR_MS // 3)


def test_an_hour_without_requests_is_idle_and_one_without_counts_is_not_counted(
    world: World,
) -> None:
    for place in range(3):
        services.make_line(
            world.pools[0], world.team, world.chat, hour=scene.TEN + place * HOUR, state=2
        )
    services.count(world.chat, feature="ask", requests=9, prompt_tokens=90, output_tokens=9)
    services.count(
        world.chat, scene.TEN + HOUR, feature="ask", requests=0, prompt_tokens=0, output_tokens=0
    )

    services.roll_up(world.pools[0])

    assert days() == [
        ("ask", ServicePart.ANSWERED, DOLLAR),
        ("", ServicePart.IDLE, DOLLAR),
        ("", ServicePart.UNCOUNTED, DOLLAR),
    ]
    total = ServiceTotal.objects.get(measure="effective")
    assert (total.requests, total.uncounted_micros, total.stated_micros) == (9, DOLLAR, 2 * DOLLAR)


def test_what_the_engine_worked_beyond_the_gateway_is_nobodys(world: World) -> None:
    services.make_line(world.pools[0], world.team, world.chat)
    services.count(world.chat, feature="ask", requests=3, prompt_tokens=300, output_tokens=30)
    services.count(
        world.chat, source="engine", requests=4, prompt_tokens=400, output_tokens=40,
        prefill_seconds=1.0, decode_seconds=3.0, split_kind="measured",
    )  # fmt: skip

    services.roll_up(world.pools[0])

    assert days() == [
        ("ask", ServicePart.ANSWERED, DOLLAR * 3 // 4),
        ("", ServicePart.UNATTRIBUTED, DOLLAR // 4),
    ]
    total = ServiceTotal.objects.get(measure="effective")
    assert (total.requests, total.output_ms, total.prompt_ms) == (
        4,
        GPU_HOUR_MS * 3 // 4,
        GPU_HOUR_MS // 4,
    )
    assert total.measured_ms == GPU_HOUR_MS


def test_shared_costs_are_divided_too_and_can_be_left_out(world: World) -> None:
    services.make_line(world.pools[0], world.team, world.chat, kind="service")
    services.make_line(world.pools[0], world.team, world.chat, kind="service", state=2)
    services.make_line(
        world.pools[0], world.team, world.chat, kind="shared", flags=32, ms=0, state=None
    )
    services.count(world.chat, feature="ask", requests=1, prompt_tokens=10, output_tokens=1)

    services.roll_up(world.pools[0])

    loaded, direct = (
        ServiceTotal.objects.get(measure=name) for name in ("effective", "effective.direct")
    )
    assert (loaded.answered_micros, direct.answered_micros) == (3 * DOLLAR, 2 * DOLLAR)
    assert (loaded.active_micros, loaded.stated_micros) == (DOLLAR, 2 * DOLLAR)


def test_owned_hardware_adds_its_power_alone(world: World) -> None:
    services.make_line(world.pools[0], world.team, world.chat, marginal=90_000)
    services.count(world.chat, feature="ask", requests=1, prompt_tokens=10, output_tokens=1)

    services.roll_up(world.pools[0])

    assert ServiceTotal.objects.get(measure="marginal").answered_micros == 90_000


def test_requests_of_an_hour_without_lines_are_told_apart(world: World) -> None:
    services.make_line(world.pools[0], world.team, world.chat)
    services.count(world.chat, feature="ask", requests=1, prompt_tokens=10, output_tokens=1)
    services.count(
        world.chat, scene.TEN + HOUR, feature="ask", requests=7, prompt_tokens=1, output_tokens=1
    )

    services.roll_up(world.pools[0])

    total = ServiceTotal.objects.get(measure="effective")
    assert (total.requests, total.costless_requests) == (1, 7)


def test_rolling_one_pool_up_again_redoes_the_service_in_all_its_pools(world: World) -> None:
    for pool in world.pools:
        services.make_line(pool, world.team, world.chat)
    services.roll_up(*world.pools)
    services.count(world.chat, feature="ask", requests=1, prompt_tokens=10, output_tokens=1)

    services.roll_up(world.pools[0])

    assert days() == [("ask", ServicePart.ANSWERED, DOLLAR)] * 2
    assert ServiceTotal.objects.get(measure="effective").answered_micros == 2 * DOLLAR


def test_only_services_have_such_days(world: World) -> None:
    training = services.make_service(world.team, "pretraining", "training")
    services.make_line(world.pools[0], world.team, training)
    services.make_line(world.pools[0], world.team, None)
    services.make_line(world.pools[0], world.team, world.batch)

    services.roll_up(world.pools[0])

    assert [each.workload_id for each in ServiceDay.objects.all()] == [world.batch]


amounts = st.none() | st.integers(-5, 3_000_000)
lines = st.fixed_dictionaries(
    {
        "pool": st.sampled_from([0, 1, None]),
        "service": st.booleans(),
        "place": st.integers(0, 3),
        "state": st.none() | st.integers(1, 3),
        "ms": st.integers(0, GPU_HOUR_MS),
        "kind": st.sampled_from(["service", "shared"]),
        "flags": st.sampled_from([0, 1, 32, 64]),
        **dict.fromkeys(("listed", "contracted", "effective", "billed"), amounts),
    }
)
numbers = st.none() | st.integers(0, 5_000)
told = st.fixed_dictionaries(
    {
        "service": st.booleans(),
        "place": st.integers(0, 3),
        "source": st.sampled_from(["engine", "gateway"]),
        "feature": st.sampled_from(["", "ask", "tab\tin it"]),
        **dict.fromkeys(("requests", "prompt_tokens", "cached_tokens", "output_tokens"), numbers),
        "prefill_seconds": st.none() | st.floats(0, 3_600),
        "decode_seconds": st.none() | st.floats(0, 3_600),
    }
)


@settings(max_examples=EXAMPLES)
@given(st.lists(lines, max_size=8), st.lists(told, max_size=8))
def test_the_parts_of_a_service_sum_to_its_lines_exactly_on_every_basis(
    given_lines: list[dict[str, Any]], counted: list[dict[str, Any]]
) -> None:
    with undone():
        world = world_there()
        for line in given_lines:
            plant(world, dict(line))
        for place, counts in enumerate(counted):
            service = world.chat if counts["service"] else world.batch
            rest = {k: v for k, v in counts.items() if k not in ("service", "place")}
            services.count(
                service, scene.TEN + counts["place"] * HOUR, source_key=str(place), **rest
            )
        services.roll_up(*world.pools, None)

        assert sums("ledger_serviceday") == sums("ledger_line")
        assert audited() == []


def test_the_audit_finds_a_part_that_is_missing(world: World) -> None:
    services.make_line(world.pools[0], world.team, world.chat)
    services.roll_up(world.pools[0])
    ServiceDay.objects.all().delete()

    found = {place.basis: place for place in audited()}
    totals = {place.basis: place for place in audited("totals of a service sum its parts")}

    assert (found["effective"].expected, found["effective"].found) == (DOLLAR, None)
    assert totals["uncounted"].found == DOLLAR
    assert (found["effective"].node or "").startswith("service chat-api")


def audited(check: str = CHECK) -> list[AuditPlace]:
    """What the audit finds of services on the day."""
    midnight = scene.TEN.replace(hour=0)
    found = audit_here(midnight, midnight + 24 * HOUR)
    return [place for place in found.places if place.check == check]


def world_there() -> World:
    """As the fixture made it: each example begins with an empty ledger."""
    pools = (Pool.objects.get(name="h100").id, Pool.objects.get(name="a100").id)
    found = {each.name: each.id for each in Workload.objects.all()}
    team = Workload.objects.get(name="nightly").team_id
    return World(team, pools, found["chat-api"], found["nightly"])


def plant(world: World, line: dict[str, Any]) -> None:
    pool = None if line["pool"] is None else world.pools[line.pop("pool")]
    line.pop("pool", None)
    service = world.chat if line.pop("service") else world.batch
    hour = scene.TEN + line.pop("place") * HOUR
    services.make_line(pool, world.team, service, hour=hour, **line)


def sums(table: str) -> list[tuple[Any, ...]]:
    columns = ", ".join(
        [f"sum({basis}), sum(({basis} IS NULL)::int * unit_milliseconds)" for basis in BASES]
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT workload_id, pool_id, state, flags, {columns}, sum(unit_milliseconds)"  # noqa: S608  # names of our own
            f" FROM {table} GROUP BY workload_id, pool_id, state, flags"
            " ORDER BY workload_id, pool_id, state, flags"
        )
        return list(cursor.fetchall())
