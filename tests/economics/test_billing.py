"""Where a bill's rows go, and how a long row reaches over its hours."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.bases import BilledCosts
from apps.economics.billing import (
    BillMatch,
    BillRowRule,
    ChargeKindOfRow,
    Places,
    Traits,
    match,
    spread,
)
from apps.economics.split import NothingToSplitBy

PLAIN = Traits(
    kind="compute",
    category="Usage",
    commitment_status="",
    issuer="A Cloud",
    service="Machines",
    usage_type="BoxUsage:p5.48xlarge",
    resource_id="",
    sub_account="17",
    tags={},
)
PLACES = Places(
    nodes={"i-01": (1,), "gpu-02": (2, 5)},
    pools={"p5.48xlarge": 10, "p4d.24xlarge": 11},
    teams={"research": 7},
)


@pytest.mark.parametrize(
    "resource",
    ["i-01", "I-01", "arn:aws:ec2:us-east-1:17:instance/i-01", "projects/x/instances/GPU-02"],
)
def test_a_resource_id_is_found_also_at_the_end_of_a_path(resource: str) -> None:
    found = match(replace(PLAIN, resource_id=resource), [], PLACES)
    assert (found.becomes, found.by) == (ChargeKindOfRow.NODE_HOUR, "resource id")
    assert found.node_id in (1, 2)


def test_without_one_a_tag_that_names_the_node_is_believed() -> None:
    found = match(replace(PLAIN, resource_id="i-99", tags={"Name": "GPU-02"}), [], PLACES)
    assert (found.node_id, found.by) == (2, "tag Name")


def test_without_a_resource_the_usage_type_names_the_one_pool_of_its_machines() -> None:
    found = match(PLAIN, [], PLACES)
    assert (found.pool_id, found.by) == (10, "usage type")
    both = replace(PLAIN, usage_type="p5.48xlarge or p4d.24xlarge")
    assert match(both, [], PLACES).becomes is ChargeKindOfRow.UNMATCHED


def test_compute_of_no_node_says_why_and_what_it_is_of() -> None:
    unknown = match(replace(PLAIN, resource_id="i-99", tags={"Team": "Research"}), [], PLACES)
    assert (unknown.becomes, unknown.reason, unknown.label, unknown.team_id) == (
        ChargeKindOfRow.UNMATCHED,
        "no node has this resource id",
        "i-99",
        7,
    )
    nameless = match(replace(PLAIN, usage_type="other"), [], PLACES)
    assert (nameless.reason, nameless.label) == ("the bill names no resource", "other")


@pytest.mark.parametrize(
    ("changes", "becomes"),
    [
        ({"kind": "tax"}, ChargeKindOfRow.TAX),
        ({"kind": "credit"}, ChargeKindOfRow.CREDIT),
        ({"kind": "disk"}, ChargeKindOfRow.SERVICE),
        ({"kind": "commitment", "commitment_status": "Unused"}, ChargeKindOfRow.COMMITMENT_UNUSED),
        ({"kind": "commitment"}, ChargeKindOfRow.PURCHASE),
        ({"kind": "other", "category": "Purchase"}, ChargeKindOfRow.SERVICE),
    ],
)
def test_what_is_not_compute_is_a_charge_of_its_own(
    changes: dict, becomes: ChargeKindOfRow
) -> None:
    assert match(replace(PLAIN, **changes), [], PLACES).becomes is becomes


@pytest.mark.parametrize("kind", ["network", "licence", "disk", "other", "credit", "tax"])
@pytest.mark.parametrize(
    ("names", "by"),
    [({"resource_id": "arn:aws:ec2:r:17:instance/i-01"}, "resource id"),
     ({"tags": {"Name": "i-01", "team": "research"}}, "tag Name")],
)  # fmt: skip
def test_what_is_billed_with_a_node_follows_it(kind: str, names: dict, by: str) -> None:
    found = match(replace(PLAIN, kind=kind, **names), [], PLACES)
    assert (found.node_id, found.team_id, found.by) == (1, None, by)
    assert found.becomes is not ChargeKindOfRow.NODE_HOUR


def test_what_may_be_a_machines_time_is_where_what_it_names_is_on_record() -> None:
    timed = replace(PLAIN, kind="other", may_be_time=True)
    named = match(replace(timed, resource_id="gpu-02"), [], PLACES)
    assert (named.kind, named.becomes, named.node_id) == ("compute", ChargeKindOfRow.NODE_HOUR, 2)
    typed = match(timed, [], PLACES)
    assert (typed.kind, typed.becomes, typed.pool_id) == ("compute", ChargeKindOfRow.NODE_HOUR, 10)
    for beside in (
        replace(timed, resource_id="cluster-7"),
        replace(timed, usage_type="something"),
        # A disk bears its machine's name as a tag.
        replace(timed, resource_id="vol-7", tags={"Name": "gpu-02"}),
    ):
        assert match(beside, [], PLACES).becomes is ChargeKindOfRow.SERVICE
    a_person_says = [BillRowRule(1, resource_id="gpu-02", kind="licence")]
    assert match(replace(timed, resource_id="gpu-02"), a_person_says, PLACES).kind == "licence"


def test_a_rule_says_what_a_node_does_not_carry() -> None:
    traffic = replace(PLAIN, kind="network", resource_id="i-01")
    team = match(traffic, [BillRowRule(1, service="Machines", team_id=7)], PLACES)
    assert (team.node_id, team.team_id) == (None, 7)
    node = match(replace(traffic, resource_id="eni-9"), [BillRowRule(2, node_id=2)], PLACES)
    assert (node.node_id, node.by) == (2, "rule 2")
    # A commitment follows its owner, whatever node its row names.
    fee = replace(PLAIN, kind="commitment", category="Purchase", resource_id="i-01")
    assert match(fee, [], PLACES).node_id is None


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "other", "category": "Purchase"},
        # What it would follow or be otherwise: a rule goes first.
        {"kind": "licence", "resource_id": "i-01"},
        {"kind": "credit", "category": "Credit"},
        {"kind": "tax"},
        {"kind": "capacity"},
        {"resource_id": "i-99"},
    ],
)
def test_a_rule_makes_a_shared_cost_of_what_is_no_machines_and_no_commitments(
    changes: dict,
) -> None:
    rule = BillRowRule(5, service="Mach*", share_method="even")
    found = match(replace(PLAIN, **changes), [rule], PLACES)
    assert (found.becomes, found.share_method, found.reason, found.label, found.rule_id) == (
        *(ChargeKindOfRow.SHARED, "even", "shared evenly", "Mach"),
        5,
    )
    assert (found.node_id, found.pool_id, found.team_id) == (None, None, None)


def test_what_a_machine_or_a_commitment_has_already_is_not_shared() -> None:
    rules = [BillRowRule(5, service="Mach*", share_method="even")]
    for changes, becomes in (
        ({"resource_id": "i-01"}, ChargeKindOfRow.NODE_HOUR),
        ({}, ChargeKindOfRow.NODE_HOUR),
        ({"kind": "commitment"}, ChargeKindOfRow.PURCHASE),
        ({"kind": "commitment", "commitment_status": "unused"}, ChargeKindOfRow.COMMITMENT_UNUSED),
    ):
        assert match(replace(PLAIN, **changes), rules, PLACES).becomes is becomes


def test_a_shared_cost_is_called_by_the_first_pattern_that_says_anything() -> None:
    for rule, called in (
        (BillRowRule(1, service="*", usage_type="*Support*"), "Support"),
        (BillRowRule(1, tag_key="cost", tag_value="shared"), "cost=shared"),
        (BillRowRule(1, tag_key="cost"), "cost"),
        (BillRowRule(1, issuer="A Cloud", sub_account="17"), "17"),
        (BillRowRule(1, issuer="*"), "rows of bills"),
    ):
        assert rule.shared_as == called


def test_the_first_rule_that_fits_wins_and_leaves_the_rest_as_ever() -> None:
    rules = [
        BillRowRule(1, issuer="another*", node_id=9),
        BillRowRule(2, sub_account="1?", tag_key="env", tag_value="prod*", pool_id=11),
        BillRowRule(3, usage_type="boxusage:*", team_id=7),
    ]
    assert match(replace(PLAIN, tags={"env": "production"}), rules, PLACES).pool_id == 11
    third = match(replace(PLAIN, resource_id="i-99", tags={"env": "dev"}), rules, PLACES)
    assert (third.becomes, third.team_id, third.by) == (ChargeKindOfRow.UNMATCHED, 7, "rule 3")
    assert match(PLAIN, rules[:2], PLACES).by == "usage type"
    any_value = BillRowRule(4, tag_key="env", kind="disk", pool_id=11)
    disk = match(replace(PLAIN, tags={"env": ""}), [any_value], PLACES)
    words = ("billed beside the machines", "Machines", "rule 4")
    assert disk == BillMatch("disk", ChargeKindOfRow.SERVICE, None, 11, None, *words, rule_id=4)


def test_lives_of_one_name_after_the_other_all_go_with_what_names_them() -> None:
    named = match(replace(PLAIN, resource_id="gpu-02"), [], PLACES)
    assert (named.node_id, named.lives) == (2, (2, 5))
    beside = match(replace(PLAIN, kind="disk", resource_id="gpu-02"), [], PLACES)
    assert (beside.node_id, beside.lives) == (2, (2, 5))
    assert match(replace(PLAIN, resource_id="i-01"), [], PLACES).lives == ()
    of_rules = replace(PLACES, lives={9: (8, 9)})
    by_rule = match(PLAIN, [BillRowRule(1, service="Machines", node_id=9)], of_rules)
    assert (by_rule.node_id, by_rule.lives) == (8, (8, 9))
    traffic = replace(PLAIN, kind="network")
    assert match(traffic, [BillRowRule(1, service="Machines", node_id=9)], of_rules).lives == (8, 9)


AMOUNT = st.integers(-(10**15), 10**15)


@given(
    listed=st.none() | AMOUNT,
    effective=st.none() | AMOUNT,
    billed=st.none() | AMOUNT,
    weights=st.lists(st.integers(0, 10**9), min_size=1, max_size=30),
)
def test_a_long_row_sums_exactly_on_every_basis(listed, effective, billed, weights) -> None:
    whole = BilledCosts(listed, effective, effective, billed)
    parts = spread(whole, weights)
    assert len(parts) == len(weights)
    for basis in range(4):
        amounts = [part[basis] for part in parts]
        assert set(amounts) == {None} if whole[basis] is None else sum(amounts) == whole[basis]


def test_without_weights_it_is_spread_evenly_and_without_hours_not_at_all() -> None:
    assert spread(BilledCosts(None, None, 10, 10), [0, 0]) == [BilledCosts(None, None, 5, 5)] * 2
    with pytest.raises(NothingToSplitBy):
        spread(BilledCosts(None, None, 10, 10), [])
