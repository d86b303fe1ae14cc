"""Ownership rules in words."""

from collections.abc import Mapping

from apps.economics.ownership import TEXT_MATCHES, Rule


def rule_in_words(rule: Rule, clusters: Mapping[int, str]) -> str:
    """All that a rule asks of a job: `account research, in cluster slurm`; `clusters` are their names.

    A rule that asks nothing takes every job.
    """
    field_names = [*TEXT_MATCHES, "label", "name"]
    conditions = [f"{name} {getattr(rule, name)}" for name in field_names if getattr(rule, name)]
    if rule.cluster_id is not None:
        conditions.append(f"in cluster {clusters[rule.cluster_id]}")
    return ", ".join(conditions) or "every job"
