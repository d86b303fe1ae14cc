"""What can be taken of a history of which rows are wrong: never a part of an hour, and nothing else is lost."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.refusal import Refusal
from apps.planning.providers import series_history
from apps.planning.providers.series_file import SeriesColumns, SeriesFileRefused
from apps.planning.providers.series_history import (
    HistoryForm,
    ReadHistory,
    history_form,
    read_history,
    read_what_can,
)

COLUMNS = SeriesColumns("time", "value")
FIRST = datetime(2026, 3, 2, tzinfo=UTC)
UNTIL = datetime(2026, 6, 1, tzinfo=UTC)
WRONG = ("many", "-3", "1e300", "12,5", "inf")
RIGHT = 100
"""An hour of which no row is ever wrong, and which has two."""
HOURS = st.dictionaries(
    st.integers(0, 60), st.lists(st.integers(0, 900), min_size=1, max_size=4), min_size=1
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("series")


def read(path: Path, unit: str = "gpu_hours") -> ReadHistory:
    form = history_form("gpu_hours", unit, rows_are_days=False)
    return read_what_can(path, columns=COLUMNS, form=form, until=UNTIL, watch=lambda _: None)


def points_or_why(path: Path) -> list[tuple[datetime, float]] | str:
    try:
        return read(path).points
    except Refusal as refused:
        return str(refused)


def rows_of(hours: dict[int, list[int]]) -> list[tuple[int, str]]:
    """Each row's hour and its text; values of an hour are a quarter of an hour apart."""
    return [
        (hour, f"{FIRST + timedelta(hours=hour, minutes=15 * place):%Y-%m-%dT%H:%M};{value}")
        for hour, values in hours.items()
        for place, value in enumerate(values)
    ]


def written(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["time;value", *rows]))
    return path


@given(hours=HOURS, spoiled=st.sets(st.integers(0, 60)), wrong=st.sampled_from(WRONG))
def test_a_wrong_row_makes_its_hour_unknown_and_no_other(folder, hours, spoiled, wrong):
    right = [text for _, text in rows_of({**hours, RIGHT: [7, 8]})]
    at = [f"{FIRST + timedelta(hours=hour, minutes=59):%Y-%m-%dT%H:%M}" for hour in spoiled]
    path = written(folder / "spoiled.csv", [*right, *(f"{moment};{wrong}" for moment in at)])
    form = history_form("gpu_hours", "gpu_hours", rows_are_days=False)
    whole = read_history(written(folder / "right.csv", right), columns=COLUMNS, form=form)
    left = [
        (hour, value)
        for hour, value in whole
        if (hour - FIRST) // timedelta(hours=1) not in spoiled
    ]
    found = read(path)
    assert found.points == left
    assert len(found.rejected) == len(spoiled)
    assert found.rows == len(right) + len(spoiled)


@given(content=st.binary(max_size=300), head=st.sampled_from([b"", b"time,value\n", b"\x1f\x8b"]))
def test_whatever_a_file_holds_it_is_read_or_refused(folder, content, head):
    path = folder / "any.csv"
    path.write_bytes(head + content)
    assert points_or_why(path)


def test_of_a_moment_that_comes_twice_neither_row_is_believed(folder):
    rows = [text for _, text in rows_of({0: [5], 1: [6], 2: [7]})]
    found = read(written(folder / "twice.csv", [*rows, rows[1].replace(";6", ";60")]))
    assert [(hour.hour, value) for hour, value in found.points] == [(0, 5), (2, 7)]
    assert [(row.number, row.field) for row in found.rejected] == [(5, "time")]


def test_a_file_of_too_many_rows_is_refused_before_all_is_read(folder, monkeypatch):
    monkeypatch.setattr(series_history, "MOST_ROWS", 2)
    path = written(folder / "long.csv", [text for _, text in rows_of({0: [1, 2], 1: [3]})])
    with pytest.raises(Refusal, match="the file has over 2 rows: send it by the hour"):
        read(path)


def test_whoever_reads_says_how_far_it_is(folder, monkeypatch):
    monkeypatch.setattr("apps.planning.providers.series_file.ROWS_AT_ONCE", 2)
    path = written(folder / "long.csv", [text for _, text in rows_of({0: [1, 2], 1: [3]})])
    form, heard = history_form("gpu_hours", "gpus", rows_are_days=False), []
    read_what_can(path, columns=COLUMNS, form=form, until=UNTIL, watch=heard.append)
    assert heard == [path.stat().st_size] * 2


def test_a_file_none_of_whose_hours_is_all_right_says_which_row_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    path.write_text("time,value\n2026-03-02 10:00,1\n2026-03-02 10:00,2\n")
    form = HistoryForm(0.0, 10.0, False, False)
    columns = SeriesColumns("time", "value", UTC)
    with pytest.raises(SeriesFileRefused, match=r"no hour of it has rows .* row 3: this moment"):
        read_what_can(
            path, columns=columns, form=form, until=datetime(2026, 4, 1, tzinfo=UTC), watch=print
        )
