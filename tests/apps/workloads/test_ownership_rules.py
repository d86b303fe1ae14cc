"""Rules say whose jobs are: shown before they are kept, and every hour they move is marked."""

from datetime import datetime
from fractions import Fraction
from typing import Any

import pytest

from apps.accounts.queries import special_teams
from apps.economics.ownership import Rule
from apps.workloads import queries
from apps.workloads.actions import rules, workloads
from apps.workloads.queries import OwnerFact, RuleFact
from tests.apps.workloads.told import NOW, forget_marks, marked, node, tell
from tests.economics.job_statements import TEN, at, on, said
from tests.make import make_cluster, make_organisation, make_team

pytestmark = pytest.mark.django_db
HOUR_MS = 3_600_000


def rule(team_id: int, *, since: datetime = TEN, until: datetime | None = None, **asked: Any):
    """A rule of priority 10 in force since ten."""
    return RuleFact(Rule(**{"priority": 10, "team_id": team_id} | asked), since, until)


def run_job(raw_id: str, *, hours: int = 2, gpus: int = 8, **given: Any) -> int:
    """A job that holds GPUs of gpu-01 from ten on."""
    start = said("start", 0, allocations=(on("gpu-01", gpus),), **given)
    return tell(raw_id, start, said("end", 60 * hours, state="COMPLETED"))[0].job_id


def test_a_job_no_rule_matches_is_nobodys():
    job_id = run_job("1", account="research")
    assert queries.owners([job_id], TEN) == {job_id: OwnerFact(None, None)}
    rules.add_rule(rule=rule(make_team(), account="vision"), at=NOW)
    assert queries.owners([job_id], TEN) == {job_id: OwnerFact(None, None)}


def test_a_job_is_the_first_matching_rules():
    research, vision = make_team("Research"), make_team("Vision")
    training = workloads.add_workload(name="pretrain", team_id=vision, kind="training")
    one = run_job("1", account="shared", user="ada")
    two = run_job("2", account="shared", name="pretrain-7b")
    rules.add_rule(rule=rule(research, account="shared"), at=NOW)
    rules.add_rule(
        rule=rule(vision, account="shared", name="pretrain-*", workload_id=training), at=NOW
    )
    assert queries.owners([one, two], TEN) == {
        one: OwnerFact(research, None),
        two: OwnerFact(vision, training),
    }


def test_a_rule_counts_only_in_its_time():
    team = make_team()
    job_id = run_job("1", hours=9)
    rules.add_rule(rule=rule(team, since=at(60), until=at(120)), at=NOW)
    owned = [queries.owners([job_id], at(minutes))[job_id].team_id for minutes in (0, 60, 119, 120)]
    assert owned == [None, team, team, None]


def test_a_rule_may_ask_for_cluster_and_label():
    team = make_team()
    one = run_job("1", labels=(("project", "llm"),))
    two = run_job("2")
    rules.add_rule(rule=rule(team, cluster_id=make_cluster(), label="project=llm"), at=NOW)
    owned = queries.owners([one, two], TEN)
    assert (owned[one].team_id, owned[two].team_id) == (team, None)


def test_a_new_rule_marks_the_hours_it_moves_and_no_others():
    node_id = node()
    run_job("1", account="research")
    run_job("2", account="vision", hours=5)
    forget_marks()
    rules.add_rule(rule=rule(make_team(), since=at(60), account="research"), at=NOW)
    assert marked(node_id) == {at(60)}


def test_a_rule_judges_names_and_labels_when_it_marks():
    node_id = node()
    run_job("1", name="eval-1", hours=1)
    run_job("2", name="pretrain-1", hours=3, labels=(("project", "llm"),))
    forget_marks()
    rules.add_rule(rule=rule(make_team(), name="pretrain-*", label="project=llm"), at=NOW)
    assert marked(node_id) == {at(0), at(60), at(120)}
    forget_marks()
    rules.add_rule(rule=rule(make_team("B"), name="eval-*"), at=NOW)
    assert marked(node_id) == {at(0)}


def test_an_ended_rule_gives_its_hours_back():
    node_id = node()
    job_id = run_job("1", hours=5)
    rule_id = rules.add_rule(rule=rule(make_team()), at=NOW)
    forget_marks()
    rules.end_rule(rule_id=rule_id, ended_at=at(180), at=NOW)
    assert marked(node_id) == {at(180), at(240)}
    assert queries.owners([job_id], at(180))[job_id].team_id is None
    with pytest.raises(rules.RuleAlreadyEnded):
        rules.end_rule(rule_id=rule_id, ended_at=at(200), at=NOW)
    with pytest.raises(rules.RuleEndsBeforeItStarts):
        rules.end_rule(rule_id=rule_id, ended_at=at(-1), at=NOW)


def test_the_same_rule_twice_is_refused():
    team = make_team()
    rules.add_rule(rule=rule(team, account="a"), at=NOW)
    with pytest.raises(rules.RuleExists):
        rules.add_rule(rule=rule(team, account="a"), at=NOW)


def test_a_rule_that_makes_no_sense_is_refused():
    team = make_team()
    with pytest.raises(rules.RuleEndsBeforeItStarts):
        rules.add_rule(rule=rule(team, until=TEN), at=NOW)
    with pytest.raises(rules.LabelUnreadable):
        rules.add_rule(rule=rule(team, label="project"), at=NOW)
    other = workloads.add_workload(name="pretrain", team_id=make_team("Other"))
    with pytest.raises(rules.WorkloadOfAnotherTeam):
        rules.add_rule(rule=rule(team, workload_id=other), at=NOW)


def test_a_process_claims_a_team_only_where_its_account_may():
    team = make_team()
    claim = {"label": "RUNRATE_TEAM=research"}
    with pytest.raises(rules.ClaimOfAnybody):
        rules.add_rule(rule=rule(team, **claim), at=NOW)
    rules.add_rule(rule=rule(team, account="shared", **claim), at=NOW)
    labels = (("RUNRATE_TEAM", "research"),)
    one = run_job("1", account="shared", labels=labels)
    two = run_job("2", account="vision", labels=labels)
    owned = queries.owners([one, two], TEN)
    assert (owned[one].team_id, owned[two].team_id) == (team, None)


def test_a_workload_has_one_name_in_its_team_and_a_known_kind():
    team = make_team()
    workloads.add_workload(name="pretrain", team_id=team)
    with pytest.raises(workloads.WorkloadExists):
        workloads.add_workload(name="pretrain", team_id=team)
    with pytest.raises(workloads.WorkloadKindUnknown):
        workloads.add_workload(name="x", team_id=team, kind="mining")


def test_a_preview_tells_what_would_move_and_moves_nothing():
    old, new = make_team("Old"), make_team("New")
    run_job("1", account="a")
    run_job("2", account="b", gpus=4)
    rules.add_rule(rule=rule(old, account="a"), at=NOW)
    preview = queries.preview_rule(rule(new, priority=1), NOW)
    assert (preview.matched_jobs, preview.matched_gpu_milliseconds) == (2, 24 * HOUR_MS)
    assert [(move.team_id, move.jobs, move.gpu_milliseconds) for move in preview.moves] == [
        (old, 1, 16 * HOUR_MS),
        (None, 1, 8 * HOUR_MS),
    ]
    assert len(queries.rules()) == 1


def test_a_preview_leaves_out_what_a_stronger_rule_keeps():
    old, new = make_team("Old"), make_team("New")
    run_job("1", account="a")
    rules.add_rule(rule=rule(old, account="a", until=at(60)), at=NOW)
    preview = queries.preview_rule(rule(new), NOW)
    assert [(move.team_id, move.gpu_milliseconds) for move in preview.moves] == [
        (None, 8 * HOUR_MS)
    ]


def test_a_preview_leaves_out_what_belongs_to_the_team_already():
    team = make_team()
    run_job("1", account="a")
    rules.add_rule(rule=rule(team, account="a"), at=NOW)
    preview = queries.preview_rule(rule(team, priority=1), NOW)
    assert (preview.matched_jobs, preview.moves) == (1, ())


def test_a_preview_of_a_rule_for_the_future_moves_nothing():
    run_job("1")
    preview = queries.preview_rule(rule(make_team(), since=NOW), NOW)
    assert (preview.matched_jobs, preview.moves) == (0, ())


def test_shares_of_gpus_are_previewed_exactly():
    third = (on("gpu-01", 1, share=Fraction(1, 3)),)
    tell("1", said("start", 0, allocations=third), said("end", 60))
    preview = queries.preview_rule(rule(make_team()), NOW)
    assert preview.matched_gpu_milliseconds == Fraction(HOUR_MS, 3)


def test_accounts_nobody_owns_are_listed_by_what_they_held():
    make_organisation()
    run_job("1", account="small", gpus=1)
    run_job("2", account="large")
    run_job("3", account="large")
    run_job("4", account="owned")
    rules.add_rule(rule=rule(special_teams().platform_id, account="owned"), at=NOW)
    listed = queries.unowned_accounts(TEN, at(60))
    assert [(one.name, one.jobs, one.gpu_milliseconds) for one in listed] == [
        ("large", 2, 16 * HOUR_MS),
        ("small", 1, HOUR_MS),
    ]
    assert {one.cluster for one in listed} == {"atlas"}


def test_jobs_without_an_account_are_listed_by_the_next_best_name():
    make_organisation()
    run_job("1", account="", namespace="vision", user="ada", gpus=4)
    run_job("2", account="", namespace="", user="ben", partition="batch", gpus=3)
    run_job("3", account="", namespace="", user="", partition="batch", gpus=2)
    run_job("4", account="", namespace="", user="", partition="", gpus=1)
    listed = queries.unowned_accounts(TEN, at(60))
    assert [(one.bears, one.name) for one in listed] == [
        ("namespace", "vision"),
        ("user", "ben"),
        ("partition", "batch"),
        ("", ""),
    ]


def test_an_account_is_listed_for_those_of_its_jobs_that_no_rule_takes():
    make_organisation()
    platform = special_teams().platform_id
    run_job("1", account="a", user="ada", name="train-1")
    run_job("2", account="a", user="ben", name="serve-1", labels=(("tier", "gold"),))
    run_job("3", account="a", user="cy", name="train-2", labels=(("tier", "tin"),))
    rules.add_rule(rule=rule(platform, user="ada"), at=NOW)
    assert [one.jobs for one in queries.unowned_accounts(TEN, at(60))] == [2]
    rules.add_rule(rule=rule(platform, label="tier=gold"), at=NOW)
    assert [one.jobs for one in queries.unowned_accounts(TEN, at(60))] == [1]
    rules.add_rule(rule=rule(platform, name="train-*"), at=NOW)
    assert queries.unowned_accounts(TEN, at(60)) == []
