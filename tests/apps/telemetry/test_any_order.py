"""Batches in any order and any number give the same usage hours."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.fleet.models import Device
from apps.marks.models import ChangedHour
from apps.telemetry import api
from apps.telemetry.actions import interning, partitions
from apps.telemetry.actions.rollup import roll_up_hour
from apps.telemetry.models import HolderKey, UsageHour
from tests.apps.telemetry.sending import BOOT, Sending, batch, make_sending, ms, now, this_hour
from tests.make import make_agent, make_token

pytestmark = pytest.mark.django_db

HOLDERS = ["", "slurm/atlas/1", "slurm/atlas/2"]

windows = st.fixed_dictionaries(
    {
        "device": st.integers(0, 1),
        "holder": st.integers(0, 2),
        # Any second of two hours, so that some cross the hour and many overlap.
        "starts_at_ms": st.integers(0, 7_200 - 300).map(
            lambda second: ms(this_hour() - timedelta(hours=1)) + second * 1_000
        ),
        "seconds": st.sampled_from([10, 30, 60, 120, 300]),
        "worked_seconds": st.none() | st.integers(0, 10),
        "observed_seconds": st.none() | st.integers(10, 10),
        "sm_ratio": st.none() | st.sampled_from([0.25, 0.5]),
        "energy_joules": st.none() | st.integers(0, 1_000),
    }
)
batches = st.lists(
    st.tuples(
        st.integers(0, 1),  # which agent
        st.integers(0, 1),  # which boot
        st.lists(windows, min_size=1, max_size=6),
    ),
    min_size=1,
    max_size=5,
)


class TakenBack(Exception):
    """Ends a transaction without a trace."""


Usage = dict[tuple[Any, ...], tuple[Any, ...]]


def usage_after(sent: list[tuple[int, dict[str, Any]]]) -> Usage:
    """The usage of both hours once these were delivered in this order; then all is undone."""
    usage: Usage = {}
    try:
        with transaction.atomic():
            senders = two_agents_of_a_node()
            for place, (agent, body) in enumerate(sent):
                sent_now = body | {"sent_at_ms": ms(now())}
                assert senders[agent].post(sent_now).status_code == 200
                if place % 2:
                    roll_up()
            roll_up()
            usage = usage_hours()
            raise TakenBack
    except TakenBack:
        for module in (api, interning, partitions):
            module.forget()
    return usage


def roll_up() -> None:
    for hours in (1, 0):
        roll_up_hour(hour=this_hour() - timedelta(hours=hours))
    assert not ChangedHour.objects.filter(pass_id=1).exists()


def usage_hours() -> Usage:
    keys = dict(HolderKey.objects.values_list("id", "key"))
    uuids = dict(Device.objects.values_list("id", "uuid"))
    return {
        (row.hour, uuids[row.device_id], keys[row.holder_id]): (
            bytes(row.observed),
            bytes(row.worked),
            row.sm_seconds,
            row.sm_observed_seconds,
            round(row.energy_joules or 0, 6),
            row.source,
        )
        for row in UsageHour.objects.all()
    }


def two_agents_of_a_node() -> list[Sending]:
    """They see the same devices; one reads NVML, one is simulated."""
    first = make_sending(source="nvml")
    token = make_token(at=this_hour() - timedelta(days=1))
    second = make_agent(
        node_id=first.node_id, token_id=token.id, source="simulated", at=this_hour()
    )
    return [first, Sending(first.node_id, second, token.secret)]


# Each example is two histories of several batches in a database: the proofs have many.
@settings(max_examples=4)
@given(drawn=batches, data=st.data())
def test_order_and_repetition_do_not_matter(drawn, data):
    check(drawn, data)


@pytest.mark.proof
@settings(max_examples=100)
@given(drawn=batches, data=st.data())
def test_order_and_repetition_of_many_batches_do_not_matter(drawn, data):
    check(drawn, data)


def check(drawn: list[tuple[int, int, list[dict[str, Any]]]], data: st.DataObject) -> None:
    """Send them as they were drawn, and in another order with some of them again."""
    sent = [
        (agent, batch(rows, sequence=sequence, boot=BOOT + boot, holders=HOLDERS))
        for sequence, (agent, boot, rows) in enumerate(drawn)
    ]
    shuffled = data.draw(st.permutations(sent))
    repeated = shuffled + data.draw(st.lists(st.sampled_from(sent), max_size=3))
    assert usage_after(repeated) == usage_after(sent)
