"""A replay on spot as lines for a terminal."""

from collections.abc import Iterator

from apps.economics.spot.job import SpotPolicy
from apps.economics.spot.report import PolicyReplays, SpotReport, mean_cost
from apps.show.text_columns import aligned_columns

NAMES = {
    SpotPolicy.RUNRATE: "Runrate",
    SpotPolicy.UNIFORM_PROGRESS: "uniform progress",
    SpotPolicy.UNIFORM_WITHOUT_LEAD: "without its lead",
    SpotPolicy.GREEDY: "greedy",
    SpotPolicy.ON_DEMAND: "on demand",
    SpotPolicy.OPTIMUM: "offline optimum",
}


def replay_lines(report: SpotReport) -> Iterator[str]:
    """Mean cost a start by zone and policy, over all zones and together, what was missed, and what was fitted on."""
    alone, job = report.alone, report.question.job
    yield (
        f"{job.work:g} h of work, {job.deadline:g} h to the deadline, {job.restart:g} h a start;"
        f" on demand {job.on_demand:g}, spot {job.spot:g} an hour"
    )
    yield (
        f"Replayed on recorded availability: a start every {report.question.every_hours:g} h, each zone"
        " fitted on its first third and replayed on the rest"
    )
    yield ""
    heads = [
        *(NAMES[policy] for policy in SpotPolicy),
        "of uniform",
        "of it without lead",
        "above optimum",
        "missed",
    ]
    rows = [_zone_row(one.names[0], one.by_policy) for one in alone]
    if len(alone) > 1:
        rows.append(_zone_row(f"{len(alone)} zones, each alone", report.overall))
    if report.together:
        rows.append(
            _zone_row(f"together: {' + '.join(report.together.names)}", report.together.by_policy)
        )
    yield from aligned_columns([("mean cost", "starts", *heads), *rows])
    yield ""
    for one in alone:
        yield (
            f"{one.names[0]}: {len(one.origins)} starts, fitted on the {one.fitted_hours:.1f} h before"
            " them"
        )
        if one.zones.thin:
            yield f"{one.names[0]}: uniform progress is used; {one.zones.thin}"
        if one.unknown_hours:
            yield f"{one.names[0]}: {one.unknown_hours:.1f} h nobody looked: taken as not up"
    for name, reason in report.left_out:
        yield f"{name} is left out: {reason}"
    if report.apart:
        yield f"Nothing is replayed together: {report.apart}"
    else:
        yield _together_words(report)


def _together_words(report: SpotReport) -> str:
    sentence = "Together are the zones that were the cheapest in the history before"
    egress = report.question.job.egress
    if not egress or report.together is None:
        return f"{sentence}; moving data between them costs nothing here."
    moves = float(report.together.by_policy[SpotPolicy.RUNRATE].spent["moves"].mean())
    return f"{sentence}; moving data between them costs {egress:g}, and was done {moves:.1f} times a start."


def _zone_row(name: str, replays: PolicyReplays) -> tuple[str, ...]:
    means = {policy: mean_cost(replays, policy) for policy in SpotPolicy}
    ours = means[SpotPolicy.RUNRATE]
    return (
        name,
        str(len(replays[SpotPolicy.RUNRATE].cost)),
        *(f"{mean:.2f}" for mean in means.values()),
        f"{ours / means[SpotPolicy.UNIFORM_PROGRESS]:.3f}",
        f"{ours / means[SpotPolicy.UNIFORM_WITHOUT_LEAD]:.3f}",
        f"{ours / means[SpotPolicy.OPTIMUM] - 1:.1%}",
        str(replays[SpotPolicy.RUNRATE].missed),
    )
