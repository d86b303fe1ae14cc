"""Verdicts on a run, or a workload's runs: what is the matter, where to look, on what evidence."""

from collections.abc import Mapping
from typing import NamedTuple

from apps.console.kit.frame import Link
from apps.console.pages.runs.words import span_of
from apps.show.amounts import per_cent
from apps.show.time import duration
from apps.unit_economics.queries.runs.bottlenecks import Bottleneck, TimeBreakdown
from apps.unit_economics.queries.runs.checkpoints import CheckpointAdvice
from apps.unit_economics.queries.runs.stragglers import Stragglers

UNSEEN = "No counters of the nodes were seen in that time, so nothing names a cause."
UNNAMED = "The nodes’ counters show nothing used up meanwhile."


class Advice(NamedTuple):
    """Advice on what is the matter, in one sentence, on what evidence, and where to look."""

    title: str
    evidence: str
    links: tuple[Link, ...] = ()


def bottleneck_verdicts(time_usage: TimeBreakdown) -> tuple[Advice, ...]:
    """Buckets that took more than is usual, the highest cost first, with what was used up meanwhile."""
    return tuple(
        Advice(verdict.words, _what_counters_say(verdict)) for verdict in time_usage.verdicts
    )


def _what_counters_say(verdict: Bottleneck) -> str:
    """Return what to know of the nodes' counters where the verdict does not say it itself."""
    if verdict.causes or not verdict.asks_counters:
        return ""
    return UNNAMED if verdict.is_seen else UNSEEN


def straggler_verdicts(stragglers: Stragglers, nodes: Mapping[str, str]) -> tuple[Advice, ...]:
    """The slow ranks; `nodes` has the addresses of nodes by name."""
    if not stragglers.slow:
        return ()
    sentences = [
        f"Rank {slow_rank.rank} takes {duration(span_of(slow_rank.median_seconds))} for a step where "
        f"{duration(span_of(slow_rank.usual_seconds))} is usual, in {per_cent(slow_rank.share)} of the "
        "windows of 50 steps."
        for slow_rank in stragglers.slow
    ]
    hosts = list(dict.fromkeys(host for slow_rank in stragglers.slow for host in slow_rank.hosts))
    return (
        Advice(
            title=stragglers.words,
            evidence=" ".join(sentences),
            links=tuple(Link(host, nodes[host]) for host in hosts if host in nodes),
        ),
    )


def checkpoint_verdicts(advice: CheckpointAdvice) -> tuple[Advice, ...]:
    """How often to save; nothing unless it is off by more than three times."""
    if advice.words is None:
        return ()
    sentences = [
        f"A save holds training up for {_length_words(advice.write_seconds)}, and by its workload’s "
        f"failures so far the run fails once in {_length_words(advice.mtbf_seconds)}."
    ]
    if advice.restored_at is None:
        sentences.append(
            "No restore of the workload was ever seen, so whether one would succeed is not known."
        )
    return (Advice(title=advice.words, evidence=" ".join(sentences)),)


def _length_words(seconds: float | None) -> str:
    return "an unknown time" if seconds is None else duration(span_of(seconds))
