"""What a policy would have cost in zones, beside others in the same replay, fitted on what came before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from apps.economics.refusal import Refusal
from apps.economics.spot.hazards import ZoneHistory
from apps.economics.spot.job import Hours, Indexes, SpotJob, SpotPolicy
from apps.economics.spot.optimum import optimum_costs
from apps.economics.spot.replay import (
    Decide,
    greedy_policy,
    on_demand_policy,
    replay,
    uniform_policy,
    window_ticks,
)
from apps.economics.spot.trace import SpotTrace
from apps.economics.spot.zones import ZoneSet, chosen_zones, fitted_zones

FITTED_PART = 3
"""The first part of so many is history, the rest is replayed."""


@dataclass(frozen=True, slots=True)
class ReplayQuestion:
    """A job, the nodes that it needs at once, and the starts: every so many hours, the first so many after the history."""

    job: SpotJob
    nodes: int = 1
    every_hours: float = 12.0
    shift_hours: float = 0.0


@dataclass(frozen=True, eq=False)
class PolicyReplay:
    """What one policy came to over all starts; of the optimum the cost alone is known."""

    cost: Hours
    missed: int
    spot_hours: float | None = None
    on_demand_hours: float | None = None
    starts: float | None = None
    preemptions: float | None = None


@dataclass(frozen=True, eq=False)
class ZonesReplay:
    """All policies in the same zones over the same starts."""

    names: tuple[str, ...]
    zones: ZoneSet
    origins: Hours
    unknown_hours: float
    by_policy: Mapping[SpotPolicy, PolicyReplay]

    def mean_cost(self, policy: SpotPolicy) -> float:
        """A start's mean cost."""
        return float(self.by_policy[policy].cost.mean())


@dataclass(frozen=True, eq=False)
class SpotReport:
    """Each zone alone, and those together that were the cheapest in the past, which of one zone is that zone."""

    question: ReplayQuestion
    fitted_hours: float
    tick: float
    alone: tuple[ZonesReplay, ...]
    together: ZonesReplay


def spot_report(
    question: ReplayQuestion, traces: Sequence[SpotTrace], say: Callable[[str], None]
) -> SpotReport:
    """Fit on the first third, replay on the rest. Refuses a Refusal naming the trace that is too short or unlike the others."""
    _refuse_unlike(traces)
    ticks = min(len(trace.counts) for trace in traces)
    history = ticks // FITTED_PART
    origins = _origins(question, traces, ticks, history)
    past = [trace.part(0, history) for trace in traces]
    whole = [trace.part(0, ticks) for trace in traces]

    def of_zones(zones: ZoneSet) -> ZonesReplay:
        return _zones_replay(question, zones, whole, origins)

    alone = []
    for place, trace in enumerate(traces):
        say(f"{trace.name}: {len(origins)} starts")
        alone.append(of_zones(fitted_zones(question.job, past, [place], question.nodes)))
    together = alone[0]
    if len(traces) > 1:
        say("choosing zones by the history")
        chosen = chosen_zones(question.job, past, question.nodes)
        say(f"together: {', '.join(traces[place].name for place in chosen.places)}")
        single = [one for one in alone if one.zones.places == chosen.places]
        together = single[0] if single else of_zones(chosen)
    tick = traces[0].tick
    return SpotReport(question, history * tick, tick, tuple(alone), together)


def _refuse_unlike(traces: Sequence[SpotTrace]) -> None:
    for trace in traces[1:]:
        if abs(trace.tick - traces[0].tick) > 1e-9:
            raise Refusal(
                f"{trace.name}: metadata.gap_seconds",
                f"{trace.tick * 3600:g} is not the {traces[0].tick * 3600:g} of {traces[0].name}:"
                " zones are used together tick by tick",
            )


def _origins(
    question: ReplayQuestion, traces: Sequence[SpotTrace], ticks: int, history: int
) -> Indexes:
    tick = traces[0].tick
    first = history + round(question.shift_hours / tick)
    last = ticks - window_ticks(question.job, tick)
    if first > last:
        shortest = min(traces, key=lambda trace: len(trace.counts))
        raise Refusal(
            f"{shortest.name}: data",
            f"{shortest.hours:.1f} h, of which the first third is history: the rest is shorter than"
            f" the deadline of {question.job.deadline:g} h",
        )
    return np.arange(first, last + 1, max(1, round(question.every_hours / tick)))


def _zones_replay(
    question: ReplayQuestion, zones: ZoneSet, traces: Sequence[SpotTrace], origins: Indexes
) -> ZonesReplay:
    job = question.job
    offers = zones.offers(traces, question.nodes)
    decisions: dict[SpotPolicy, Decide] = {
        SpotPolicy.RUNRATE: zones.policy(job),
        SpotPolicy.UNIFORM_PROGRESS: uniform_policy(job),
        SpotPolicy.GREEDY: greedy_policy(job),
        SpotPolicy.ON_DEMAND: on_demand_policy,
    }
    by_policy = {}
    for policy, decide in decisions.items():
        run = replay(job, offers, origins, decide)
        means = (run.spot_hours, run.on_demand_hours, run.starts, run.preemptions)
        by_policy[policy] = PolicyReplay(
            run.cost, run.missed(job), *(float(mean.mean()) for mean in means)
        )
    by_policy[SpotPolicy.OPTIMUM] = PolicyReplay(optimum_costs(job, offers, origins), 0)
    unknown = sum(int((~traces[place].known).sum()) for place in zones.places)
    return ZonesReplay(
        names=tuple(traces[place].name for place in zones.places),
        zones=zones,
        origins=origins.astype(np.float64) * offers.tick,
        unknown_hours=unknown * offers.tick,
        by_policy=by_policy,
    )


def report_fields(report: SpotReport) -> dict[str, Any]:
    """A report as JSON has it: costs in the prices' currency a start, hours since the traces' begin."""
    question, together = report.question, report.together
    best = min(report.alone, key=lambda one: one.mean_cost(SpotPolicy.RUNRATE))
    return {
        **_replay_fields(together),
        "zones": [_replay_fields(one) for one in report.alone],
        "best_single": {
            "trace": best.names[0],
            "mean_cost": round(best.mean_cost(SpotPolicy.RUNRATE), 6),
        },
        "fitted_hours": round(report.fitted_hours, 4),
        "tick_seconds": round(report.tick * 3600, 6),
        "origins": {
            "first_hours": round(float(together.origins[0]), 4),
            "last_hours": round(float(together.origins[-1]), 4),
            "every_hours": question.every_hours,
            "shift_hours": question.shift_hours,
        },
        "nodes": question.nodes,
        "job": {
            "work_hours": question.job.work,
            "deadline_hours": question.job.deadline,
            "restart_hours": question.job.restart,
            "checkpoint_hours": question.job.checkpoint,
            "on_demand": question.job.on_demand,
            "spot": question.job.spot,
        },
    }


def _replay_fields(replayed: ZonesReplay) -> dict[str, Any]:
    ours = replayed.mean_cost(SpotPolicy.RUNRATE)
    return {
        "traces": list(replayed.names),
        "runs": len(replayed.origins),
        "missed": replayed.by_policy[SpotPolicy.RUNRATE].missed,
        "mean_cost": {
            policy.value: round(replayed.mean_cost(policy), 6) for policy in replayed.by_policy
        },
        "cost_of_uniform_progress": round(
            ours / replayed.mean_cost(SpotPolicy.UNIFORM_PROGRESS), 6
        ),
        "above_optimum": round(ours / replayed.mean_cost(SpotPolicy.OPTIMUM) - 1, 6),
        "policies": {
            policy.value: _policy_fields(result) for policy, result in replayed.by_policy.items()
        },
        "policy": "plan" if replayed.zones.plan else "uniform_progress",
        "thin": replayed.zones.thin or None,
        "history": [_history_fields(one) for one in replayed.zones.histories],
        "unknown_hours": round(replayed.unknown_hours, 4),
    }


def _policy_fields(result: PolicyReplay) -> dict[str, Any]:
    low, high = np.quantile(result.cost, [0.1, 0.9])
    means = {
        "spot_hours": result.spot_hours,
        "on_demand_hours": result.on_demand_hours,
        "starts": result.starts,
        "preemptions": result.preemptions,
    }
    return {
        "missed": result.missed,
        "cost_p10": round(float(low), 6),
        "cost_p90": round(float(high), 6),
        **{name: None if mean is None else round(mean, 4) for name, mean in means.items()},
    }


def _history_fields(history: ZoneHistory) -> dict[str, Any]:
    return {
        "known_hours": round(history.known_hours, 4),
        "up_share": None if history.up_share is None else round(history.up_share, 6),
        "availability_ends": history.up.spells,
        "outage_ends": history.down.spells,
        "hazard_by_age": [
            round(float(chance) / history.tick, 6)
            for chance in history.up.next_chances(history.tick)[:, 2]
        ],
    }
