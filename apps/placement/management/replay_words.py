"""A replay on spot as lines for a terminal."""

from collections.abc import Iterator

from apps.economics.spot.job import SpotPolicy
from apps.economics.spot.report import SpotReport, ZonesReplay
from apps.show.text_columns import aligned_columns

NAMES = {
    SpotPolicy.RUNRATE: "Runrate",
    SpotPolicy.UNIFORM_PROGRESS: "uniform progress",
    SpotPolicy.GREEDY: "greedy",
    SpotPolicy.ON_DEMAND: "on demand",
    SpotPolicy.OPTIMUM: "offline optimum",
}


def replay_lines(report: SpotReport) -> Iterator[str]:
    """Mean cost a start by zone and policy, what was missed, and what all was fitted on."""
    shown = list(report.alone)
    if report.together not in shown:
        shown.append(report.together)
    job = report.question.job
    yield (
        f"{job.work:g} h of work, {job.deadline:g} h to the deadline, {job.restart:g} h a start;"
        f" on demand {job.on_demand:g}, spot {job.spot:g} an hour"
    )
    yield (
        f"Replayed on recorded availability: {len(report.together.origins)} starts, one every"
        f" {report.question.every_hours:g} h; fitted on the {report.fitted_hours:.1f} h before them"
    )
    yield ""
    heads = [*(NAMES[policy] for policy in SpotPolicy), "of uniform", "above optimum", "missed"]
    yield from aligned_columns([("mean cost", *heads), *(_row(one) for one in shown)])
    yield ""
    yield f"Together, by the history before: {', '.join(report.together.names)}"
    for one in shown:
        if one.zones.thin:
            yield f"{', '.join(one.names)}: uniform progress is used; {one.zones.thin}"
        if one.unknown_hours:
            yield (
                f"{', '.join(one.names)}: {one.unknown_hours:.1f} h nobody looked: taken as not up"
            )


def _row(one: ZonesReplay) -> tuple[str, ...]:
    ours = one.mean_cost(SpotPolicy.RUNRATE)
    return (
        " + ".join(one.names),
        *(f"{one.mean_cost(policy):.2f}" for policy in SpotPolicy),
        f"{ours / one.mean_cost(SpotPolicy.UNIFORM_PROGRESS):.3f}",
        f"{ours / one.mean_cost(SpotPolicy.OPTIMUM) - 1:.1%}",
        str(one.by_policy[SpotPolicy.RUNRATE].missed),
    )
