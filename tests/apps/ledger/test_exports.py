"""A file of ledger rows, made in the background for who asked, of what they may see then."""

import csv
import gzip
import hashlib
import io
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import AccessToken
from apps.economics.run_time import Bucket
from apps.ledger.actions import exports
from apps.ledger.models import Export, ExportState, ExportWhat, Line
from apps.ledger.queries import Window
from apps.ledger.queries.export_scope import ExportRefused, ExportScope, refuse_what_rows_lack
from apps.ledger.queries.exports import Asker
from apps.ledger.tasks import make_exports
from apps.unit_economics.models import RunDay, ServiceDay
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import Run
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
DAY = Window("2026-03-02", date(2026, 3, 2), date(2026, 3, 3), "UTC")


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.HOME = tmp_path
    return tmp_path / "exports"


@pytest.fixture(scope="module", autouse=True)
def _ledger(of_module: None) -> None:
    make.make_organisation()
    node_id = scene.make_priced_node(pool_id=make.make_pool("=h100"), started_at=scene.TEN)
    scene.make_rule("research", make.make_team("Research"))
    scene.make_rule("secret", make.make_team("Secret"))
    scene.make_job("1", node_id, gpus=2)
    scene.make_job("2", node_id, gpus=1, account="secret")
    scene.settle(ends_at=scene.TEN + scene.HOUR)
    for line in Line.objects.filter(team__name__in=("Research", "Secret")).distinct("team_id"):
        make_service_day(line.team_id)
        make_run_day(line)


def make_service_day(team_id: int) -> None:
    """A day of a service of this team, of a feature that a spreadsheet would run."""
    ServiceDay.objects.create(
        day=DAY.first_day,
        posting_month=DAY.first_day.replace(day=1),
        status="estimated",
        kind="node_hour",
        team_id=team_id,
        workload_id=add_workload(name="chat", team_id=team_id, kind="serving"),
        feature="=ask",
        part=2,
        state=1,
        flags=0,
        effective_micros=1_500_000,
        marginal_micros=250_000,
        unit_milliseconds=7,
        unpriced_milliseconds=0,
    )


def make_run_day(line: Line) -> None:
    """A day of a run that the line's job carried, of which no list price is known."""
    RunDay.objects.create(
        day=DAY.first_day,
        posting_month=line.posting_month,
        status="estimated",
        kind="node_hour",
        pool_id=line.pool_id,
        run=Run.objects.create(key=f"llm-{line.team_id}"),
        job_id=line.job_id or 0,
        team_id=line.team_id,
        bucket=Bucket.CHECKPOINT,
        state=1,
        flags=0,
        effective_micros=line.effective_micros,
        unit_milliseconds=line.unit_milliseconds,
        unpriced_milliseconds=0,
        energy_joules=1.5e7,
    )


def asked(token_id: int, what: ExportWhat = ExportWhat.LINES) -> Export:
    wanted = exports.NewExport(what, DAY, asked={}, chosen={})
    asker = Asker(token_id=token_id)
    export_id = exports.request_export(wanted=wanted, asker=asker, at=timezone.now())
    return Export.objects.get(id=export_id)


def rows_in(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))


def test_every_line_is_in_the_file_that_the_sweep_makes(folder: Path) -> None:
    export = asked(make.make_token("read").id)

    make_exports()

    export.refresh_from_db()
    path = folder / f"{export.id}.csv.gz"
    rows = rows_in(path)
    assert (export.state, export.rows) == (ExportState.DONE, Line.objects.count())
    assert len(rows) == Line.objects.count() > 2
    assert export.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert export.size_bytes == path.stat().st_size
    of_research = next(row for row in rows if row["team"] == "Research")
    assert (of_research["effective_cost"], of_research["job"]) == ("24.580000", "1")
    assert of_research["pool"] == "'=h100"
    assert list(folder.glob("*.part")) == []


@pytest.mark.parametrize("what", list(ExportWhat))
def test_a_team_s_token_gets_its_own_rows_alone(folder: Path, what: ExportWhat) -> None:
    team_id = Line.objects.filter(team__name="Research").values_list("team_id", flat=True)[0]
    export = asked(make.make_token("read", team_id=team_id).id, what)

    make_exports()

    export.refresh_from_db()
    assert {row["team"] for row in rows_in(folder / f"{export.id}.csv.gz")} == {"Research"}
    assert export.team_ids == [team_id]


def test_services_are_told_by_feature_and_part(folder: Path) -> None:
    export = asked(make.make_token("read").id, ExportWhat.SERVICE_DAYS)

    make_exports()

    row, _ = rows_in(folder / f"{export.id}.csv.gz")
    assert (row["workload"], row["feature"], row["part"]) == ("chat", "'=ask", "unattributed")
    assert (row["effective_cost"], row["marginal_cost"]) == ("1.500000", "0.250000")


def test_runs_are_told_by_where_their_time_went(folder: Path) -> None:
    export = asked(make.make_token("read").id, ExportWhat.RUN_DAYS)

    make_exports()

    row = next(row for row in rows_in(folder / f"{export.id}.csv.gz") if row["team"] == "Research")
    assert row["run"].startswith("llm-")
    assert (row["job"], row["bucket"], row["unit"]) == ("1", "checkpoint", "gpu")
    assert (row["unit_milliseconds"], row["energy_joules"]) == ("7200000", "15000000")
    assert (row["effective_cost"], row["list_cost"]) == ("24.580000", "")


@pytest.mark.parametrize(
    ("what", "given", "field"),
    [
        (ExportWhat.SERVICE_DAYS, {"tags": {"project": "x"}}, "tags"),
        (ExportWhat.SERVICE_DAYS, {"job_id": 1}, "job_id"),
        (ExportWhat.DAYS, {"job_id": 1}, "job_id"),
    ],
)
def test_rows_are_not_chosen_by_what_they_lack(
    what: ExportWhat, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(ExportRefused) as refused:
        refuse_what_rows_lack(what, ExportScope("2026-03", **given))
    assert refused.value.field == field


def test_what_a_token_asked_for_is_not_made_once_it_is_revoked(folder: Path) -> None:
    token_id = make.make_token("read").id
    export = asked(token_id)
    AccessToken.objects.filter(id=token_id).update(revoked_at=timezone.now())

    make_exports()

    export.refresh_from_db()
    assert export.state == ExportState.FAILED
    assert "no longer valid" in export.failure
    assert list(folder.glob("*")) == []


def test_an_export_whose_maker_fell_silent_is_made_again(folder: Path) -> None:
    export = asked(make.make_token("read").id)
    long_ago = timezone.now() - timedelta(hours=1)
    lost = exports.take_up_export(at=long_ago)
    assert lost is not None

    make_exports()

    export.refresh_from_db()
    assert (export.state, export.attempt) == (ExportState.DONE, 2)
    assert not exports.record_export_progress(turn=lost, rows=7, at=timezone.now())


def test_an_export_called_off_or_expired_leaves_no_file(folder: Path) -> None:
    token_id = make.make_token("read").id
    called_off, kept = asked(token_id), asked(token_id)
    make_exports()
    exports.cancel_export(export_id=called_off.id, at=timezone.now())
    Export.objects.filter(id=kept.id).update(expires_at=timezone.now())

    make_exports()

    assert list(folder.glob("*")) == []


def test_nobody_has_more_than_five_waiting() -> None:
    token_id = make.make_token("read").id
    for _ in range(5):
        asked(token_id)

    with pytest.raises(exports.TooManyExports):
        asked(token_id)
