"""Parquet files that are small and decode to much: each is refused, and who reads it goes on."""

from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from pyarrow import parquet

from apps.files.parquet import ParquetRefused, open_parquet

HUGE = "x" * (16 << 20)


def decoded(path: Path, columns: list[str] | None = None) -> list[dict[str, object]]:
    with open_parquet(path, columns) as table:
        return [row for batch in table.batches for row in batch.to_pylist()]


def written(path: Path, columns: dict[str, object], **given: object) -> Path:
    parquet.write_table(pa.table(columns), path, compression="zstd", **given)
    return path


def test_rows_come_as_they_were_written(tmp_path: Path) -> None:
    path = written(
        tmp_path / "good",
        {"a": ["x", "y", None] * 2_000, "b": [1, None, 3] * 2_000, "c": [0] * 6_000},
    )
    assert decoded(path) == [
        {"a": "x", "b": 1, "c": 0}, {"a": "y", "b": None, "c": 0}, {"a": None, "b": 3, "c": 0},
    ] * 2_000  # fmt: skip
    assert decoded(path, ["b"])[:2] == [{"b": 1}, {"b": None}]


def test_maps_come_as_they_were_written(tmp_path: Path) -> None:
    tags = pa.array([[("team", "otters")], [], None], pa.map_(pa.string(), pa.string()))
    rows = decoded(written(tmp_path / "tags", {"Tags": tags}))
    assert [row["Tags"] for row in rows] == [[("team", "otters")], [], None]


def test_a_cell_of_sixteen_megabytes_that_five_thousand_rows_share_is_named(tmp_path: Path) -> None:
    cells = pa.DictionaryArray.from_arrays(pa.array([0] * 5_000, pa.int32()), pa.array([HUGE]))
    path = written(tmp_path / "bomb", {"value": cells})
    assert path.stat().st_size < 20_000
    before = psutil.Process().memory_info().rss
    with pytest.raises(ParquetRefused, match=r"a cell of its column value, .* 16,777,216 bytes"):
        decoded(path)
    assert psutil.Process().memory_info().rss - before < 200 << 20


def test_what_its_words_hide_ends_in_a_refusal(tmp_path: Path, monkeypatch) -> None:
    # Cells that are no dictionary are copied as they are decoded, before anybody can weigh them.
    path = written(tmp_path / "bomb", {"value": [HUGE] * 20}, use_dictionary=False)
    monkeypatch.setattr("apps.files.parquet.MEMORY_BYTES", 128 << 20)
    with pytest.raises(ParquetRefused, match="unpacks to more than the 128 MiB"):
        decoded(path)


def test_a_column_of_nothing_is_bounded_by_its_rows(tmp_path: Path) -> None:
    path = written(tmp_path / "nulls", {"value": pa.nulls(51_000_000, pa.int8())})
    assert path.stat().st_size < 200_000
    with pytest.raises(ParquetRefused, match="51,000,000 rows"):
        decoded(path)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({f"c{number}": [1] for number in range(2_001)}, "2,001 columns"),
        ({"value": [[[[[[1]]]]]]}, "nests deeper"),
        ({"value": [[{"a": HUGE}]]}, "a cell of its column value"),
    ],
    ids=["too many columns", "too deep", "a list of much"],
)
def test_what_is_no_table_of_cells_is_refused(tmp_path: Path, columns, words: str) -> None:
    with pytest.raises(ParquetRefused, match=words):
        decoded(written(tmp_path / "odd", columns))


def test_a_file_that_is_cut_off_or_none_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "cut", {"a": [1]})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ParquetRefused, match="Parquet"):
        decoded(path)


def test_no_process_is_left_of_a_file_that_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = written(tmp_path / "long", {"a": list(range(500_000))})
    with open_parquet(path) as table:
        next(table.batches)
    assert psutil.Process().children() == []
