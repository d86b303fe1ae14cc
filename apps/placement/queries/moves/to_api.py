"""Services that one serves oneself, where the newest run of a kept comparison advises to buy from an API."""

from collections.abc import Sequence

from apps.economics.money import MICROS
from apps.economics.moves.disruption import DisruptionClass, MoveDisruption
from apps.economics.moves.saving import SavingRange
from apps.placement.queries.moves.candidates import why_not_by_hour
from apps.placement.queries.moves.proposal import (
    MoveKind,
    MoveKindDetection,
    MoveProposal,
    ProposalEvidence,
    move_key,
    one_time_cost,
)
from apps.placement.queries.moves.work import FleetWork, WorkCell
from apps.planning.queries.crossover import SavedScenarioFact, ScenarioRunFact, saved_scenarios

API = "api"
HIGH = MoveDisruption(
    DisruptionClass.HIGH,
    "every answer comes from another model: quality, latency and where data goes are to be tried first",
)


def detect_api_moves(work: FleetWork) -> MoveKindDetection:
    """Every kept comparison of a service with an API."""
    kind_look = MoveKindDetection(MoveKind.TO_API)
    of_service: dict[int, list[WorkCell]] = {}
    for cell in work.cells:
        of_service.setdefault(cell.workload.id, []).append(cell)
    for scenario in saved_scenarios(None):
        run, key = scenario.answered, move_key(MoveKind.TO_API, str(scenario.id))
        cells = of_service.get(scenario.service_id or 0, [])
        saved = [cell for cell in cells if not why_not_by_hour(cell)]
        if run is None:
            kind_look.decline(key, "its comparison has no answer yet")
        elif run.advice != API:
            kind_look.decline(key, "its comparison does not advise an API")
        elif scenario.service_id is None:
            kind_look.decline(key, "its comparison is of no service that runs here")
        elif not cells:
            kind_look.decline(key, "the service was not charged in the weeks looked at")
        elif not saved:
            kind_look.decline(key, why_not_by_hour(cells[0]))
        else:
            _propose_api(kind_look, work, (scenario, run, key), saved)
    return kind_look


def _propose_api(
    kind_look: MoveKindDetection,
    work: FleetWork,
    comparison: tuple[SavedScenarioFact, ScenarioRunFact, str],
    cells: Sequence[WorkCell],
) -> None:
    scenario, run, key = comparison
    spend = work.monthly(cells)
    bill = run.figure("costs", "api_month")
    if bill is None:
        kind_look.decline(key, "what the API would cost is not in its answer")
        return
    # What is paid anyway stays to be paid: of the own costs only what is spent by the hour goes.
    likely = round(spend - float(bill) * MICROS)
    low, high = _saving_ends(run, likely)
    name = cells[0].workload.name
    kind_look.propose(
        MoveProposal(
            key=key,
            kind=MoveKind.TO_API,
            subject=name,
            source=", ".join(f"{cell.pool.name}, on demand" for cell in cells),
            target=scenario.name,
            team_id=cells[0].workload.team_id,
            workload_id=cells[0].workload.id,
            pool_id=cells[0].pool.id if len(cells) == 1 else None,
            spend_micros=spend,
            saving=SavingRange(low, likely, high).capped(spend),
            one_time=one_time_cost(MoveKind.TO_API),
            disruption=HIGH,
            evidence=(
                ProposalEvidence("scenario", str(scenario.id), f"The comparison {scenario.name}"),
                *(ProposalEvidence("pool", str(cell.pool.id), cell.pool.name) for cell in cells),
            ),
            doubts=("quality of answers is not compared",),
            why="What it costs by the hour here is more than the API asks for the same requests.",
            cells=frozenset(cell.key for cell in cells),
        )
    )


def _saving_ends(run: ScenarioRunFact, likely: int) -> tuple[int, int]:
    """As far from the likely saving as the comparison's own 10th and 90th percentile are from its median."""
    spread = [run.figure("uncertainty", "savings", name) for name in ("p10", "p50", "p90")]
    if any(end is None for end in spread):
        return likely, likely
    p10, middle, p90 = (float(end) * MICROS for end in spread)
    # There a saving is one's own hosting's: the API's lies the other way.
    return likely - round(p90 - middle), likely + round(middle - p10)
