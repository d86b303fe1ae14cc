"""The cost that a policy would have had in zones, beside others in the same replay, fitted on what came before."""

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
    uniform_without_lead_policy,
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
    """The result of one policy by start; of the optimum the cost alone is known."""

    cost: Hours
    missed: int
    spent: Mapping[str, Hours]


PolicyReplays = Mapping[SpotPolicy, PolicyReplay]


def mean_cost(replays: PolicyReplays, policy: SpotPolicy) -> float:
    """A start's mean cost."""
    return float(replays[policy].cost.mean())


@dataclass(frozen=True, eq=False)
class ZonesReplay:
    """All policies in the same zones over the same starts, in hours since the traces' begin, after so much history."""

    names: tuple[str, ...]
    zones: ZoneSet
    tick: float
    fitted_hours: float
    origins: Hours
    unknown_hours: float
    by_policy: PolicyReplays


@dataclass(frozen=True, eq=False)
class SpotReport:
    """Each zone alone over its own time; and those together that were the cheapest in the past, where there are several.

    `left_out` has each trace that is too short, and why; `apart` why zones are not replayed together, empty where they are.
    """

    question: ReplayQuestion
    alone: tuple[ZonesReplay, ...]
    together: ZonesReplay | None
    apart: str
    left_out: tuple[tuple[str, str], ...]

    @property
    def overall(self) -> PolicyReplays:
        """All starts of all zones, each zone alone."""
        return {
            policy: _joined_replay([one.by_policy[policy] for one in self.alone])
            for policy in SpotPolicy
        }


def _joined_replay(replays: Sequence[PolicyReplay]) -> PolicyReplay:
    return PolicyReplay(
        np.concatenate([one.cost for one in replays]),
        sum(one.missed for one in replays),
        {name: np.concatenate([one.spent[name] for one in replays]) for name in replays[0].spent},
    )


def spot_report(
    question: ReplayQuestion, traces: Sequence[SpotTrace], say: Callable[[str], None]
) -> SpotReport:
    """Fit on the first third, replay on the rest. Refuses a Refusal where no trace is long enough for one start."""
    alone, usable_traces, left_out = [], [], []
    for trace in traces:
        too_short = _too_short(question, trace)
        if too_short:
            say(f"{trace.name} is left out: {too_short}")
            left_out.append((trace.name, too_short))
            continue
        alone.append(_replay_alone(question, trace))
        say(f"{trace.name}: {len(alone[-1].origins)} starts")
        usable_traces.append(trace)
    if not usable_traces:
        raise Refusal(f"{left_out[0][0]}: data", left_out[0][1])
    apart = _why_apart(usable_traces)
    together = None if apart else _replay_together(question, usable_traces, say)
    return SpotReport(question, tuple(alone), together, apart, tuple(left_out))


def _replay_alone(question: ReplayQuestion, trace: SpotTrace) -> ZonesReplay:
    history = len(trace.counts) // FITTED_PART
    zones = fitted_zones(question.job, [trace.part(0, history)], [0], question.nodes)
    return _zones_replay(question, zones, [trace])


def _replay_together(
    question: ReplayQuestion,
    traces: Sequence[SpotTrace],
    say: Callable[[str], None],
) -> ZonesReplay:
    ticks = min(len(trace.counts) for trace in traces)
    say("choosing zones by the history")
    past = [trace.part(0, ticks // FITTED_PART) for trace in traces]
    chosen = chosen_zones(question.job, past, question.nodes)
    say(f"together: {', '.join(traces[place].name for place in chosen.places)}")
    return _zones_replay(question, chosen, [trace.part(0, ticks) for trace in traces])


def _why_apart(traces: Sequence[SpotTrace]) -> str:
    if len(traces) == 1:
        return "there is one zone"
    first = traces[0]
    for trace in traces[1:]:
        if abs(trace.tick - first.tick) > 1e-9:
            return (
                f"{trace.name} has a tick of {trace.tick * 3600:g} s, {first.name} one of"
                f" {first.tick * 3600:g} s: zones are used together tick by tick"
            )
    return ""


def _too_short(question: ReplayQuestion, trace: SpotTrace) -> str:
    if len(_window_starts(question, trace.tick, len(trace.counts))):
        return ""
    return (
        f"{trace.hours:.1f} h, of which the first third is history: the rest is shorter than the"
        f" deadline of {question.job.deadline:g} h"
        + (f" after {question.shift_hours:g} h" if question.shift_hours else "")
    )


def _window_starts(question: ReplayQuestion, tick: float, ticks: int) -> Indexes:
    first = ticks // FITTED_PART + round(question.shift_hours / tick)
    last = ticks - window_ticks(question.job, tick)
    return np.arange(first, last + 1, max(1, round(question.every_hours / tick)))


def _zones_replay(
    question: ReplayQuestion, zones: ZoneSet, traces: Sequence[SpotTrace]
) -> ZonesReplay:
    job = question.job
    offers = zones.offers(job, traces, question.nodes)
    origins = _window_starts(question, offers.tick, offers.ticks)
    decisions: dict[SpotPolicy, Decide] = {
        SpotPolicy.RUNRATE: zones.policy(job),
        SpotPolicy.UNIFORM_PROGRESS: uniform_policy(job),
        SpotPolicy.UNIFORM_WITHOUT_LEAD: uniform_without_lead_policy(job),
        SpotPolicy.GREEDY: greedy_policy(job),
        SpotPolicy.ON_DEMAND: on_demand_policy,
    }
    by_policy = {}
    for policy, decide in decisions.items():
        run = replay(job, offers, origins, decide)
        spent = {
            "spot_hours": run.spot_hours,
            "on_demand_hours": run.on_demand_hours,
            "starts": run.starts.astype(np.float64),
            "moves": run.moves.astype(np.float64),
            "preemptions": run.preemptions.astype(np.float64),
        }
        by_policy[policy] = PolicyReplay(run.cost, run.missed(job), spent)
    by_policy[SpotPolicy.OPTIMUM] = PolicyReplay(optimum_costs(job, offers, origins), 0, {})
    unknown = sum(int((~traces[place].known).sum()) for place in zones.places)
    return ZonesReplay(
        names=tuple(traces[place].name for place in zones.places),
        zones=zones,
        tick=offers.tick,
        fitted_hours=offers.ticks // FITTED_PART * offers.tick,
        origins=origins.astype(np.float64) * offers.tick,
        unknown_hours=unknown * offers.tick,
        by_policy=by_policy,
    )


def report_fields(report: SpotReport) -> dict[str, Any]:
    """A report as JSON has it: costs in the prices' currency a start, hours since the traces' begin.

    The top level is of all starts of all zones, each alone.
    """
    question, together = report.question, report.together
    best = min(report.alone, key=lambda one: mean_cost(one.by_policy, SpotPolicy.RUNRATE))
    return {
        **_cost_fields(report.overall),
        "zones": [_replay_fields(one) for one in report.alone],
        "best_single": {
            "trace": best.names[0],
            "mean_cost": round(mean_cost(best.by_policy, SpotPolicy.RUNRATE), 6),
        },
        "together": _replay_fields(together) if together else None,
        "apart": report.apart or None,
        "left_out": [{"trace": name, "reason": reason} for name, reason in report.left_out],
        "every_hours": question.every_hours,
        "shift_hours": question.shift_hours,
        "nodes": question.nodes,
        "job": {
            "work_hours": question.job.work,
            "deadline_hours": question.job.deadline,
            "restart_hours": question.job.restart,
            "checkpoint_hours": question.job.checkpoint,
            "egress_cost": question.job.egress,
            "on_demand": question.job.on_demand,
            "spot": question.job.spot,
        },
    }


def _cost_fields(replays: PolicyReplays) -> dict[str, Any]:
    ours = replays[SpotPolicy.RUNRATE]
    means = {policy: mean_cost(replays, policy) for policy in SpotPolicy}
    return {
        "runs": len(ours.cost),
        "missed": ours.missed,
        "mean_cost": {policy.value: round(mean, 6) for policy, mean in means.items()},
        "cost_of_uniform_progress": round(
            means[SpotPolicy.RUNRATE] / means[SpotPolicy.UNIFORM_PROGRESS], 6
        ),
        "cost_of_uniform_progress_without_lead": round(
            means[SpotPolicy.RUNRATE] / means[SpotPolicy.UNIFORM_WITHOUT_LEAD], 6
        ),
        "above_optimum": round(means[SpotPolicy.RUNRATE] / means[SpotPolicy.OPTIMUM] - 1, 6),
        "policies": {policy.value: _policy_fields(result) for policy, result in replays.items()},
    }


def _replay_fields(replayed: ZonesReplay) -> dict[str, Any]:
    return {
        "traces": list(replayed.names),
        **_cost_fields(replayed.by_policy),
        "policy": "plan" if replayed.zones.plan else "uniform_progress",
        "thin": replayed.zones.thin or None,
        "fitted_hours": round(replayed.fitted_hours, 4),
        "tick_seconds": round(replayed.tick * 3600, 6),
        "first_start_hours": round(float(replayed.origins[0]), 4),
        "last_start_hours": round(float(replayed.origins[-1]), 4),
        "history": [_history_fields(one) for one in replayed.zones.histories],
        "unknown_hours": round(replayed.unknown_hours, 4),
    }


def _policy_fields(result: PolicyReplay) -> dict[str, Any]:
    low, high = np.quantile(result.cost, [0.1, 0.9])
    return {
        "missed": result.missed,
        "cost_p10": round(float(low), 6),
        "cost_p90": round(float(high), 6),
        **{name: round(float(hours.mean()), 4) for name, hours in result.spent.items()},
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
