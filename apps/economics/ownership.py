"""The owner of a job: the first of the rules that match it."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

NOT_KEPT = 2**63 - 1
TEXT_MATCHES = ("account", "partition", "namespace", "user")


@dataclass(frozen=True, slots=True)
class JobTraits:
    """The traits of a job that a rule may look at."""

    cluster_id: int
    account: str = ""
    partition: str = ""
    namespace: str = ""
    user: str = ""
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """Jobs that match all that is not empty belong to `team_id` and `workload_id`.

    `label` is `key=value`; in `name`, `*` stands for any letters. A rule not kept yet is newer
    than any that is.
    """

    priority: int
    team_id: int
    id: int = NOT_KEPT
    workload_id: int | None = None
    cluster_id: int | None = None
    account: str = ""
    partition: str = ""
    namespace: str = ""
    user: str = ""
    label: str = ""
    name: str = ""

    @property
    def specificity(self) -> int:
        """How many things the rule asks of a job."""
        texts = (self.account, self.partition, self.namespace, self.user, self.label, self.name)
        return sum(1 for text in texts if text) + (self.cluster_id is not None)

    @property
    def rank(self) -> tuple[int, int, int]:
        """Smaller goes first: the lowest priority, then the most specific, then the oldest."""
        return self.priority, -self.specificity, self.id

    def matches(self, job: JobTraits) -> bool:
        """Whether the job is all that the rule asks."""
        if self.cluster_id not in {None, job.cluster_id}:
            return False
        if any(
            getattr(self, text_match) not in {"", getattr(job, text_match)}
            for text_match in TEXT_MATCHES
        ):
            return False
        return self._matches_label(job.labels) and self.matches_name(job.name)

    def matches_name(self, name: str) -> bool:
        """Whether a job of this name is one that the rule asks for."""
        return not self.name or fnmatchcase(name, self.name)

    def _matches_label(self, labels: Mapping[str, str]) -> bool:
        if not self.label:
            return True
        key, _, value = self.label.partition("=")
        return labels.get(key) == value


def in_rank(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules in the order in which they are tried."""
    return tuple(sorted(rules, key=lambda rule: rule.rank))


def rule_of(job: JobTraits, ranked: Sequence[Rule]) -> Rule | None:
    """The first of the rules, in rank, that matches; None: nobody owns the job."""
    return next((rule for rule in ranked if rule.matches(job)), None)


def rules_of(jobs: Iterable[tuple[int, JobTraits]], ranked: Sequence[Rule]) -> dict[int, Rule]:
    """The rule of each job that has one, by the job's id.

    A fleet's jobs are mostly alike in what rules look at, so each likeness is judged once.
    """
    label_keys = sorted({rule.label.partition("=")[0] for rule in ranked if rule.label})
    is_name_seen = any(rule.name for rule in ranked)
    judged: dict[Hashable, Rule | None] = {}
    tried: dict[str, tuple[Rule, ...]] = {}
    rules_by_job: dict[int, Rule] = {}
    for job_id, job in jobs:
        likeness = (
            job.cluster_id,
            *(getattr(job, text_match) for text_match in TEXT_MATCHES),
            *(job.labels.get(key) for key in label_keys),
            job.name if is_name_seen else "",
        )
        if likeness not in judged:
            if job.account not in tried:
                tried[job.account] = tuple(
                    candidate for candidate in ranked if candidate.account in {"", job.account}
                )
            judged[likeness] = rule_of(job, tried[job.account])
        rule = judged[likeness]
        if rule is not None:
            rules_by_job[job_id] = rule
    return rules_by_job
