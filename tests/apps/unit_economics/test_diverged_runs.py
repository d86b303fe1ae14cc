"""A loss that went wrong, all the way: from the report to a line that failed, late, twice, and after a close."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.db.models import Sum

from apps.economics.run_time import Bucket
from apps.fleet.actions import end_node
from apps.ledger.actions import close
from apps.ledger.models import LedgerDay
from apps.ledger.queries import Window
from apps.ledger.queries.closes.months import late_facts
from apps.ledger.queries.cube import CubeQuestion
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.unit_economics.models import RunDay, RunFigures
from apps.unit_economics.queries.diverged_runs import diverged_run_costs
from apps.unit_economics.queries.runs.bottlenecks import run_time_breakdown
from apps.unit_economics.queries.waste import Waste, WastePart, waste_by
from apps.workloads.actions.folding_runs import fold_due_runs
from apps.workloads.actions.report_shapes import RunReportIn
from apps.workloads.actions.run_reports import Reporter, record_reports
from apps.workloads.api.run_wire import read_report
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.test_close import EVERYTHING, IN_APRIL

pytestmark = pytest.mark.django_db
NODE_MICROS = 98_320_000
UNTIL = scene.TEN + scene.HOUR
DAY = CubeQuestion(Window("2026-03-02", scene.TEN.date(), scene.LATER.date(), "UTC"))
MARCH = scene.TEN.date().replace(day=1)


@pytest.fixture(autouse=True)
def _trained() -> None:
    """An hour of a whole node, all of it active, for a run that trained and said so; settled."""
    make.make_organisation()
    make.make_cluster()
    scene.make_rule("research", make.make_team())
    node_id = scene.make_priced_node()
    end_node(node_id=node_id, ended_at=UNTIL, reason="", at=scene.LATER)
    uuids = scene.make_gpus(node_id)
    for device_id in scene.device_ids(uuids):
        scene.make_usage(device_id, [240] * 60)
    scene.make_job("1", node_id, uuids=uuids)
    window = {
        "starts_at_ms": ms(0),
        "ends_at_ms": ms(60),
        "steps": 60,
        "first_step": 0,
        "last_step": 59,
        "productive_ms": ms(60) - ms(0),
    }
    report(0, windows=[window], ended_at_ms=ms(60), status="finished")
    scene.settle_all(IN_APRIL)


def ms(minute: float) -> int:
    """Into the hour, as a report says it."""
    return int((scene.TEN + timedelta(minutes=minute)).timestamp() * 1000)


def report(sequence: int, *losses: tuple[int, float | None], **given: Any) -> None:
    """By the door that all reports come through, and folded."""
    told = {
        "run": "llama",
        "attempt": "a",
        "began_at_ms": ms(0),
        "sequence": sequence,
        "job": {"scheduler": "slurm", "raw_id": "1", "cluster": ""},
        "events": [
            {
                "kind": "score",
                "at_ms": ms(minute),
                "step": minute,
                "metric": value,
                "name": "loss",
                "higher_is_better": False,
            }
            for minute, value in losses
        ],
    }
    read = read_report(msgspec.Raw(msgspec.json.encode(told | given)), at=IN_APRIL, row=0)
    assert isinstance(read, RunReportIn), read
    at = IN_APRIL + timedelta(minutes=sequence)
    record_reports(reports=[read], teller=Reporter(), at=at)
    fold_due_runs(at=at)


def parts() -> dict[WastePart, int]:
    """The day's waste."""
    waste = waste_by(DAY).get((), Waste())
    return {part: micros for part, micros in waste.parts.items() if micros}


def by_bucket() -> dict[int, int]:
    """What the run's lines come to."""
    return dict(RunDay.objects.values_list("bucket").annotate(Sum("effective_micros")))


def test_a_late_report_of_no_number_moves_money_to_waste_and_back_and_all_of_it_adds_up() -> None:
    assert by_bucket() == {Bucket.PRODUCTIVE: NODE_MICROS}
    assert parts() == {}
    report(1, (10, 2.5), (45, None), (50, None))
    assert {Pass(each.pass_id) for each in ChangedHour.objects.all()} == {Pass.DIVIDE}
    scene.settle_all(IN_APRIL)
    wrong = NODE_MICROS // 4
    assert by_bucket() == {Bucket.PRODUCTIVE: NODE_MICROS - wrong, Bucket.DIVERGED: wrong}
    assert parts() == {WastePart.FAILED: wrong}
    assert [cost.micros for cost in diverged_run_costs(DAY)] == [wrong]
    (figures,) = RunFigures.objects.all()
    assert figures.bucket_micros[Bucket.DIVERGED] == wrong
    assert figures.goodput_ratio == 0.75
    assert sum(LedgerDay.objects.values_list("effective_micros", flat=True)) == NODE_MICROS
    assert audit_here(scene.TEN, UNTIL).adds_up
    report(2, (55, 2.0))
    scene.settle_all(IN_APRIL)
    assert (by_bucket(), parts()) == ({Bucket.PRODUCTIVE: NODE_MICROS}, {})
    assert audit_here(scene.TEN, UNTIL).adds_up


def test_a_closed_month_keeps_its_division_and_says_that_a_loss_came_late() -> None:
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=EVERYTHING)
    close.close_month(request=asked, at=IN_APRIL)
    report(1, (45, None))
    scene.settle_all(IN_APRIL)
    assert by_bucket() == {Bucket.PRODUCTIVE: NODE_MICROS}
    assert late_facts(MARCH).days == 1
    assert audit_here(scene.TEN, UNTIL).adds_up
    close.reopen_month(month=MARCH, reason="late reports", person_id=None, at=IN_APRIL)
    scene.settle_all(IN_APRIL)
    assert by_bucket()[Bucket.DIVERGED] == NODE_MICROS // 4


def test_it_is_the_runs_verdict() -> None:
    report(1, (45, None))
    scene.settle_all(IN_APRIL)
    told = run_time_breakdown(RunFigures.objects.get().run_id)
    assert (
        told.words
        == "Diverged: 25\xa0% of GPU time was training after its loss went wrong; $24.58."
    )
