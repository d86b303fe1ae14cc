"""Ledger rows as Parquet: the CSV's cells, typed, a few of them in memory at a time."""

import csv
import gzip
import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pyarrow import parquet as untyped

from apps.economics.run_time import Bucket
from apps.ledger.actions import exports
from apps.ledger.models import Export, ExportWhat, FileForm, Line
from apps.ledger.queries import Window
from apps.ledger.queries.exports import Asker
from apps.ledger.tasks import export_files, make_exports
from apps.unit_economics.models import ServiceDay
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics.planted_runs import make_programme, plant_day, plant_run

pytestmark = pytest.mark.django_db
parquet: Any = untyped
MARCH = Window("2026-03", date(2026, 3, 1), date(2026, 4, 1), "UTC")
APRIL = Window("2026-04", date(2026, 4, 1), date(2026, 5, 1), "UTC")


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.HOME = tmp_path
    return tmp_path / "exports"


@pytest.fixture(scope="module", autouse=True)
def _planted(of_module: None) -> None:
    """Two hours of a node on one day, and a run of two days of which one has no price."""
    make.make_organisation()
    node_id = scene.make_priced_node(pool_id=make.make_pool("=h100"), started_at=scene.TEN)
    scene.make_rule("research", make.make_team("Research"))
    scene.make_job("1", node_id, gpus=2)
    scene.settle(ends_at=scene.TEN + 2 * scene.HOUR)
    programme_id = make_programme()
    run_id = plant_run('llm, "small"', programme_id)
    for days, price in ((0, 2.5), (3, None)):
        day = MARCH.first_day + timedelta(days=1 + days)
        plant_day(run_id, {Bucket.PRODUCTIVE: 3.25, Bucket.LOST: 1}, price=price, day=day)
    plant_service_day(programme_id)


def plant_service_day(workload_id: int) -> None:
    """A day of a service, of a feature that bears no name and has no price."""
    ServiceDay.objects.create(
        day=MARCH.first_day,
        posting_month=MARCH.first_day,
        status="estimated",
        kind="node_hour",
        team_id=scene.platform(),
        workload_id=workload_id,
        part=1,
        flags=0,
        unit_milliseconds=7,
        unpriced_milliseconds=7,
    )


def made(what: ExportWhat, form: FileForm, window: Window = MARCH) -> Export:
    """An export that finance asked for, and that was made."""
    export_id = exports.request_export(
        wanted=exports.NewExport(what, window, asked={}, chosen={}, form=form),
        asker=Asker(token_id=make.make_token("read").id),
        at=timezone.now(),
    )
    make_exports()
    return Export.objects.get(id=export_id)


def as_text(cell: Any) -> str:
    """A cell of Parquet as the CSV has it."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return f"{cell.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)


@pytest.mark.parametrize("what", list(ExportWhat))
def test_parquet_holds_every_cell_of_the_csv(folder: Path, what: ExportWhat) -> None:
    packed, typed = made(what, FileForm.CSV), made(what, FileForm.PARQUET)

    text = gzip.decompress((folder / f"{packed.id}.csv.gz").read_bytes()).decode()
    header, *rows = csv.reader(io.StringIO(text))
    table = parquet.read_table(folder / f"{typed.id}.parquet")
    assert table.column_names == header
    assert [[as_text(cell) for cell in row.values()] for row in table.to_pylist()] == rows
    assert typed.rows == packed.rows == table.num_rows > 0
    assert typed.size_bytes == (folder / f"{typed.id}.parquet").stat().st_size


def test_amounts_are_exact_numbers_and_what_is_unknown_is_null(folder: Path) -> None:
    lines = parquet.read_table(folder / f"{made(ExportWhat.LINES, FileForm.PARQUET).id}.parquet")
    runs = parquet.read_table(folder / f"{made(ExportWhat.RUN_DAYS, FileForm.PARQUET).id}.parquet")

    assert {name: str(lines.schema.field(name).type) for name in ("hour", "job_id", "team")} == {
        "hour": "timestamp[ms, tz=UTC]",
        "job_id": "int64",
        "team": "string",
    }
    micros = sum(line.effective_micros or 0 for line in Line.objects.all())
    assert sum(lines["effective_cost"].to_pylist()) == Decimal(micros) / 1_000_000
    assert str(lines.schema.field("effective_cost").type) == "decimal128(19, 6)"
    assert None in lines["job_id"].to_pylist()
    assert sorted(runs["effective_cost"].to_pylist()[:2]) == [Decimal("2.5"), Decimal("8.125")]
    assert runs["effective_cost"].to_pylist()[2:] == [None, None]
    assert set(runs["energy_joules"].to_pylist()) == {None}


def test_a_day_is_a_group_and_a_long_day_is_several(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def groups(export: Export) -> list[int]:
        told = parquet.ParquetFile(folder / f"{export.id}.parquet").metadata
        return [told.row_group(each).num_rows for each in range(told.num_row_groups)]

    assert groups(made(ExportWhat.RUN_DAYS, FileForm.PARQUET)) == [2, 2]

    monkeypatch.setattr(export_files, "GROUP_BYTES", 1)
    assert groups(made(ExportWhat.RUN_DAYS, FileForm.PARQUET)) == [1, 1, 1, 1]


def test_the_same_rows_are_the_same_bytes() -> None:
    first, again = (made(ExportWhat.LINES, FileForm.PARQUET) for _ in range(2))

    assert first.digest == again.digest != ""


def test_a_file_of_no_rows_still_names_its_columns(folder: Path) -> None:
    export = made(ExportWhat.DAYS, FileForm.PARQUET, APRIL)

    table = parquet.read_table(folder / f"{export.id}.parquet")
    assert (export.state, table.num_rows) == ("done", 0)
    assert "effective_cost" in table.column_names
