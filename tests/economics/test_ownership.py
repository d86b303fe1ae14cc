"""Whose a job is: the lowest priority, then the most specific rule, then the oldest."""

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.ownership import JobTraits, Rule, in_rank, rule_of, rules_of

RESEARCH, VISION, PLATFORM = 1, 2, 3

_texts = st.sampled_from(["", "a", "b"])
_jobs = st.builds(
    JobTraits,
    cluster_id=st.integers(1, 2),
    account=_texts,
    partition=_texts,
    namespace=_texts,
    user=_texts,
    name=st.sampled_from(["", "train-a", "serve-b"]),
    labels=st.dictionaries(st.sampled_from(["team", "tier"]), st.sampled_from("ab"), max_size=2),
)
_rules = st.lists(
    st.builds(
        Rule,
        priority=st.integers(1, 3),
        team_id=st.integers(1, 3),
        cluster_id=st.none() | st.integers(1, 2),
        account=_texts,
        partition=_texts,
        user=_texts,
        label=st.sampled_from(["", "team=a", "tier=b"]),
        name=st.sampled_from(["", "train-*", "serve-b"]),
    ),
    max_size=5,
)


@given(st.lists(_jobs, max_size=5), _rules)
def test_many_jobs_are_judged_as_each_alone(jobs: list[JobTraits], rules: list[Rule]) -> None:
    ranked = in_rank(rules)
    alone = {place: rule_of(job, ranked) for place, job in enumerate(jobs)}
    assert rules_of(enumerate(jobs), ranked) == {p: r for p, r in alone.items() if r is not None}


def test_a_rule_that_asks_nothing_matches_everything() -> None:
    assert Rule(9, PLATFORM).matches(JobTraits(1, account="research"))


def test_a_rule_asks_for_everything_it_names() -> None:
    rule = Rule(1, RESEARCH, cluster_id=1, account="research", partition="h100", user="ada")
    job = JobTraits(1, account="research", partition="h100", user="ada")
    assert rule.matches(job)
    assert not rule.matches(JobTraits(2, account="research", partition="h100", user="ada"))
    assert not rule.matches(JobTraits(1, account="research", partition="h100", user="ben"))
    assert not rule.matches(JobTraits(1, account="research", user="ada"))


def test_a_label_is_asked_for_with_its_value() -> None:
    rule = Rule(1, VISION, label="project=llm")
    assert rule.matches(JobTraits(1, labels={"project": "llm", "tier": "1"}))
    assert not rule.matches(JobTraits(1, labels={"project": "ads"}))
    assert not rule.matches(JobTraits(1))


def test_a_star_stands_for_any_letters_of_a_name() -> None:
    rule = Rule(1, VISION, name="pretrain-*")
    assert rule.matches(JobTraits(1, name="pretrain-7b"))
    assert not rule.matches(JobTraits(1, name="eval-7b"))


def test_a_processs_own_team_counts_only_for_the_account_a_rule_names() -> None:
    rule = Rule(1, VISION, account="shared", label="RUNRATE_TEAM=vision")
    claim = {"RUNRATE_TEAM": "vision"}
    assert rule.matches(JobTraits(1, account="shared", labels=claim))
    assert not rule.matches(JobTraits(1, account="research", labels=claim))


def test_the_lowest_priority_number_wins() -> None:
    broad, narrow = Rule(1, RESEARCH, id=2), Rule(5, VISION, account="a", user="b", id=1)
    assert rule_of(JobTraits(1, account="a", user="b"), in_rank([narrow, broad])) is broad


def test_of_equal_priority_the_most_specific_wins_then_the_oldest() -> None:
    old = Rule(1, RESEARCH, account="a", id=1)
    new = Rule(1, VISION, account="a", id=2)
    narrow = Rule(1, PLATFORM, account="a", user="b", cluster_id=1, id=3)
    ranked = in_rank([new, narrow, old])
    assert rule_of(JobTraits(1, account="a"), ranked) is old
    assert rule_of(JobTraits(1, account="a", user="b"), ranked) is narrow
    assert rule_of(JobTraits(1, account="x"), ranked) is None


def test_jobs_that_are_alike_are_judged_alike() -> None:
    ranked = in_rank([Rule(1, RESEARCH, account="a", label="tier=1")])
    alike = JobTraits(1, account="a", name="one", labels={"tier": "1"})
    jobs = [(1, alike), (2, JobTraits(1, account="a", name="two", labels={"tier": "1"}))]
    assert set(rules_of([*jobs, (3, JobTraits(1))], ranked)) == {1, 2}
