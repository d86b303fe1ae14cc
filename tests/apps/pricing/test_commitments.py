"""Commitments: what is refused at entry, what a cloud tells again, when one ends, and what is marked."""

import json
from dataclasses import replace
from datetime import datetime, time, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.pricing import actions
from apps.pricing.models import Commitment
from apps.pricing.queries.commitments import commitment, commitments, commitments_in
from tests.make import NOON, make_node, make_organisation, make_pool, make_team

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
RESERVED = actions.EnteredCommitment(
    name="two nodes",
    kind="reserved",
    currency="USD",
    starts_at=NOON,
    ends_at=NOON + 100 * HOUR,
    provider="aws",
    instance_type="p5.48xlarge",
    units=2,
    upfront=Decimal("1000.5"),
    hourly=Decimal("40.123456789"),
)
PLAN = replace(
    RESERVED,
    name="a plan",
    kind="savings_plan",
    units=0,
    spend=Decimal(25),
    prices={"p5.48xlarge": Decimal("49.5")},
    instance_type="",
    upfront=Decimal(0),
    hourly=Decimal(25),
)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make_organisation()


def add(at: datetime = NOON, **given: Any) -> int:
    return actions.add_commitment(commitment=replace(RESERVED, **given), at=at)


def record(at: datetime = NOON, **given: Any) -> actions.RecordedCommitment:
    told = replace(RESERVED, external_id="ri-1", **given)
    return actions.record_commitment(commitment=told, at=at)


def marked_hours() -> list[int]:
    rows = ChangedHour.objects.filter(pass_id=Pass.CHARGE).order_by("hour")
    return [int((row.hour - NOON) / HOUR) for row in rows]


def test_what_is_entered_is_asked_for_exactly() -> None:
    owner = make_team("Research")
    found = commitment(add(owner_id=owner))
    assert (found.upfront, found.hourly) == (Decimal("1000.5"), Decimal("40.123456789"))
    assert (found.starts_at, found.ends_at, found.hours) == (NOON, NOON + 100 * HOUR, 100)
    assert (found.units, found.unit, found.owner_id) == (2, "node", owner)


def test_a_spend_keeps_its_prices_to_the_last_digit() -> None:
    one = actions.add_commitment(
        commitment=replace(PLAN, prices={"b": Decimal("0.100000001"), "a": Decimal(100)}), at=NOON
    )
    assert commitment(one).prices == {"a": Decimal(100), "b": Decimal("0.100000001")}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": " "}, "name: "),
        ({"kind": "promise"}, "kind: 'promise' is none"),
        ({"unit": "core"}, "unit: "),
        ({"currency": "usd"}, "currency: "),
        ({"currency": "EUR"}, "currency: no rate of exchange from EUR to USD"),
        ({"pool_id": 99}, "pool: there is no pool 99"),
        ({"owner_id": 99}, "owner: there is no team 99"),
        ({"provider": ""}, "provider: "),
        ({"instance_type": ""}, "instance_type: "),
        ({"units": 0}, "units: neither"),
        ({"units": -1}, "units: -1 is not a count"),
        ({"spend": Decimal(5), "prices": {"a": Decimal(1)}}, "spend: .* not both"),
        ({"units": 0, "spend": Decimal(5)}, "prices: a spend buys"),
        ({"prices": {"a": Decimal(1)}}, "prices: units have no prices"),
        ({"units": 0, "spend": Decimal(5), "prices": {"a": Decimal(0)}}, "prices: each"),
        ({"upfront": Decimal(-1)}, "upfront: "),
        ({"hourly": Decimal("0.0000000001")}, "hourly: .* 9 decimals"),
        ({"hourly": Decimal("NaN")}, "hourly: NaN is not an amount"),
        ({"upfront": Decimal(0), "hourly": Decimal(0)}, "hourly: it costs something"),
        ({"starts_at": NOON + timedelta(milliseconds=1)}, "starts_at: .* not a whole second"),
        (
            {"kind": "capacity_block", "ends_at": NOON + timedelta(microseconds=1)},
            "ends_at: .* not a whole second",
        ),
        ({"platform": "beos"}, "platform: 'beos' is none of linux, windows"),
        ({"tenancy": "crowded"}, "tenancy: 'crowded' is none of default"),
        ({"is_shared": False}, "account: one that is not shared is of an account"),
    ],
)
def test_a_field_that_says_nothing_is_refused_by_its_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(actions.CommitmentNotUnderstood, match=f"^{said}"):
        add(**given)
    assert commitments() == []


def test_whom_it_covers_is_kept_by_one_word_however_it_is_spelt() -> None:
    add(
        platform="Red Hat Enterprise Linux", tenancy="Dedicated", account="1234", is_shared=False,
        starts_at=NOON + timedelta(seconds=1),
    )  # fmt: skip
    (held,) = commitments()
    assert (held.platform, held.tenancy, held.account) == ("rhel", "dedicated", "1234")
    assert (held.is_shared, held.starts_at) == (False, NOON + timedelta(seconds=1))


@pytest.mark.parametrize(
    "provider", ["AWS", "Amazon Web Services", "aws", "Amazon Web Services, Inc."]
)
@pytest.mark.parametrize("machine", ["p5.48xlarge", "P5.48XLARGE"])
def test_provider_and_machine_are_one_however_they_are_spelt(provider: str, machine: str) -> None:
    held = commitment(add(provider=provider, instance_type=machine))
    assert (held.provider, held.instance_type) == ("aws", "p5.48xlarge")
    make_pool("ours", provider="AWS", instance_type="P5.48xlarge")
    again = commitment(add(name="again", provider=provider, instance_type=machine))
    assert again.provider == "AWS"
    assert again.instance_type == "P5.48xlarge"


def test_what_pools_say_to_the_letter_stays() -> None:
    make_pool("odd", provider="Heron", instance_type="Box.1", gpu_model="H100")
    held = commitment(add(provider="heron", instance_type="box.1", gpu_model="H100"))
    assert (held.provider, held.instance_type, held.gpu_model) == ("Heron", "Box.1", "H100")


def test_a_plans_prices_are_by_the_machines_of_pools() -> None:
    prices = {"P5.48xlarge": Decimal(5), "P5.48xlarge windows dedicated": Decimal(7)}
    one = actions.add_commitment(commitment=replace(PLAN, prices=prices), at=NOON)
    assert set(commitment(one).prices) == {"p5.48xlarge", "p5.48xlarge windows dedicated"}


def test_a_gpu_is_the_one_that_pools_have_or_is_refused() -> None:
    make_pool("h100")
    for name in ("H100 SXM", "nvidia-h100-80gb", "NVIDIA H100 80GB HBM3"):
        held = commitment(add(name=name, gpu_model=name))
        assert held.gpu_model == "NVIDIA H100 80GB HBM3"
    for name, words in (
        ("H100", "may be any of"), ("h100x", "is no GPU"), ("a100-sxm4-80gb 1g.10gb", "is a part"),
    ):  # fmt: skip
        with pytest.raises(actions.CommitmentNotUnderstood, match=f"^gpu_model: .* {words}"):
            add(name="refused", gpu_model=name)


def test_one_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(actions.CommitmentEndsBeforeItStarts, match=r"^ends_at: "):
        add(ends_at=NOON)


def test_a_name_and_a_providers_own_name_are_taken_once() -> None:
    add(external_id="ri-1")
    with pytest.raises(actions.CommitmentExists, match=r"^name: "):
        add()
    with pytest.raises(actions.CommitmentExists, match=r"^external_id: aws 'ri-1'"):
        add(name="another", external_id="ri-1")


def test_a_commitment_in_another_currency_waits_for_a_rate_of_exchange() -> None:
    rate = actions.NewExchangeRate(NOON.date().replace(day=1), "EUR", "USD", Decimal("1.08"))
    actions.state_exchange_rate(rate=rate, at=NOON)
    assert commitment(add(currency="EUR")).currency == "EUR"


def test_the_past_part_of_a_term_is_charged_again_since_there_are_nodes() -> None:
    make_node(at=NOON + HOUR, started_at=NOON + HOUR, pool_id=make_pool())
    ChangedHour.objects.all().delete()
    add(at=NOON + 3 * HOUR)
    assert marked_hours() == [1, 2]


def test_what_is_to_come_marks_nothing() -> None:
    make_node(pool_id=make_pool())
    ChangedHour.objects.all().delete()
    add()
    assert marked_hours() == []


def test_one_that_is_ended_covers_and_costs_nothing_from_then_on() -> None:
    make_node(pool_id=make_pool())
    one = add()
    ChangedHour.objects.all().delete()
    actions.end_commitment(commitment_id=one, ended_at=NOON + 2 * HOUR, at=NOON + 4 * HOUR)
    assert marked_hours() == [2, 3]
    found = commitment(one)
    # The hours of its price are those of the term that was bought.
    assert (found.ends_at, found.hours) == (NOON + 2 * HOUR, 100)
    assert commitments_in(NOON + 2 * HOUR, NOON + 3 * HOUR) == []


def test_an_end_that_says_nothing_is_refused() -> None:
    one = add()

    def end(ended_at: datetime) -> None:
        actions.end_commitment(commitment_id=one, ended_at=ended_at, at=NOON)

    with pytest.raises(actions.CommitmentEndsBeforeItStarts):
        end(NOON)
    with pytest.raises(actions.CommitmentNotUnderstood, match=r"^ended_at: "):
        end(NOON + timedelta(minutes=90, microseconds=1))
    with pytest.raises(actions.CommitmentAlreadyEnded):
        end(NOON + 100 * HOUR)
    end(NOON + HOUR)
    with pytest.raises(actions.CommitmentAlreadyEnded):
        end(NOON + HOUR)


def test_what_a_cloud_tells_again_changes_nothing() -> None:
    first = record()
    ChangedHour.objects.all().delete()
    again = record(at=NOON + 5 * HOUR)
    assert (first.became, again.became, first.id) == ("added", "unchanged", again.id)
    assert marked_hours() == []


def test_what_a_cloud_tells_anew_is_kept_and_all_of_it_charged_again() -> None:
    make_node(pool_id=make_pool())
    one = record(starts_at=NOON + 2 * HOUR).id
    ChangedHour.objects.all().delete()
    found = record(units=3, starts_at=NOON + HOUR, at=NOON + 4 * HOUR)
    assert (found.id, found.became, commitment(one).units) == (one, "updated", 3)
    # Its term, and the midnight before: bills charge a day's rows of it there.
    assert marked_hours() == [-12, 1, 2, 3]


def test_what_a_person_said_of_owner_and_pool_outlives_the_clouds_telling() -> None:
    one = record().id
    owner, pool = make_team("Research"), make_pool()
    Commitment.objects.filter(pk=one).update(owner_id=owner, pool_id=pool)
    assert record().became == "unchanged"
    assert record(units=5).became == "updated"
    found = commitment(one)
    assert (found.owner_id, found.pool_id, found.units) == (owner, pool, 5)


def test_the_bounds_that_a_cloud_tells_to_the_second_are_cut_to_whole_hours() -> None:
    second = timedelta(seconds=1)
    told = {"starts_at": NOON + 754 * second, "ends_at": NOON + 3 * HOUR - second}
    found = commitment(record(**told).id)
    assert (found.starts_at, found.ends_at) == (NOON, NOON + 3 * HOUR)
    assert record(**told).became == "unchanged"


@pytest.mark.parametrize(
    ("told", "kept"), [("11:30:00", "11:30:00"), ("11:29:59", "11:30:00"), ("11:30:17", "11:30:17")]
)
def test_a_block_ends_in_the_second_that_its_cloud_tells(told: str, kept: str) -> None:
    ends_on = (NOON + timedelta(days=14)).date()
    ends_at = datetime.combine(ends_on, time.fromisoformat(told), NOON.tzinfo)
    found = commitment(record(kind="capacity_block", ends_at=ends_at).id)
    assert found.ends_at.isoformat() == f"{ends_on}T{kept}+00:00"


def test_a_cloud_tells_that_one_was_returned() -> None:
    told = replace(RESERVED, external_id="ri-1")
    first = actions.record_commitment(commitment=told, at=NOON)
    ended = actions.record_commitment(commitment=told, at=NOON, ended_at=NOON + HOUR)
    assert (ended.became, commitment(first.id).ended_at) == ("updated", NOON + HOUR)
    # A telling without an end takes back no end.
    assert record().became == "unchanged"


def test_a_cloud_says_what_it_calls_its_commitment() -> None:
    with pytest.raises(actions.CommitmentNotUnderstood, match=r"^external_id: "):
        actions.record_commitment(commitment=RESERVED, at=NOON)


def test_money_of_a_cloud_that_nobody_can_convert_yet_is_kept() -> None:
    assert record(currency="EUR").became == "added"


FILE = """
[[commitments]]
name = "two nodes"
kind = "reserved"
provider = "aws"
instance_type = "p5.48xlarge"
units = 2
hourly = 40.123456789
owner = "Research"
starts_at = 2026-03-01
ends_at = 2027-03-01T00:00:00Z

[[commitments]]
name = "a plan"
kind = "savings_plan"
provider = "aws"
spend = 25
hourly = 25
starts_at = 2026-03-01
ends_at = 2027-03-01
prices = {"p5.48xlarge" = 49.5}
"""


def command(tmp_path: Path, text: str) -> tuple[dict[str, Any], str]:
    """The line of JSON of the command, and what it says of refused ones."""
    path, out, said = tmp_path / "bought.toml", StringIO(), StringIO()
    path.write_text(text)
    try:
        call_command("add_commitment", file=path, json=True, stdout=out, stderr=said)
    except CommandError as refused:
        said.write(str(refused))
    lines = out.getvalue().splitlines()
    return json.loads(lines[-1]) if lines else {}, said.getvalue()


def test_a_file_of_commitments_is_entered_to_the_last_digit(tmp_path: Path) -> None:
    make_team("Research")
    told, _ = command(tmp_path, FILE)
    first, second = commitments()
    assert told == {"added": [first.id, second.id], "rejected": []}
    assert (first.hourly, first.hours) == (Decimal("40.123456789"), 365 * 24)
    assert second.prices == {"p5.48xlarge": Decimal("49.5")}


def test_a_refused_entry_is_told_by_number_and_field_and_the_others_are_kept(
    tmp_path: Path,
) -> None:
    told, said = command(tmp_path, FILE)
    reason = "owner: there is no owner named 'Research'"
    assert told["rejected"] == [{"number": 1, "reason": reason}]
    assert [each.name for each in commitments()] == ["a plan"]
    assert f"commitment 1: {reason}" in said
    assert "1 of 2 were refused" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no commitment in it"),
        ("name = ", "bought.toml: "),
        ("colour = 1\n" + FILE, "colour stands outside"),
        ('name = "a"\ncolour = "b"', "colour: there is no such field"),
        ('name = "a"\nkind = "reserved"', "starts_at: this is missing"),
        (FILE.replace("2026-03-01", '"soon"'), "starts_at: 'soon' is not a day"),
        (FILE.replace("units = 2", "units = 2.5"), "units: Decimal"),
        (FILE.replace("hourly = 25", 'hourly = "much"'), "hourly: 'much' is not an amount"),
        (FILE.replace("hourly = 25", "hourly = true"), "hourly: True is not an amount"),
        (FILE.replace('prices = {"p5.48xlarge" = 49.5}', "prices = 3"), "prices: this is a table"),
        (FILE.replace('name = "a plan"', "name = 3"), "name: 3 is not a text"),
    ],
)
def test_a_file_that_says_nothing_is_refused_by_what_is_wrong(
    tmp_path: Path, text: str, said: str
) -> None:
    assert said in command(tmp_path, text)[1]


def test_names_that_no_pool_and_no_table_has_are_said() -> None:
    make_pool("ours", provider="heron", instance_type="box.1")
    odd = replace(RESERVED, provider="moon", instance_type="rock.1")
    assert [each.split(",")[0] for each in actions.unknown_names(odd)] == [
        "No pool has the provider 'moon'", "No pool has the instance type 'rock.1'",
    ]  # fmt: skip
    for provider, machine in (("aws", "m5.24xlarge"), ("heron", "box.1"), ("gcp", "a3-highgpu-8g")):
        known = replace(RESERVED, provider=provider, instance_type=machine)
        assert actions.unknown_names(known) == ()
