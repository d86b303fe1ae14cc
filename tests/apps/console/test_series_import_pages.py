"""A history by browser: sent, looked at whole, said what it is of, confirmed, imported in the background."""

import gzip
import io
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from apps.files.limits import FORM_BYTES, BodyKind
from apps.planning.actions import series_uploads
from apps.planning.models import HistoryPoint, SeriesImport
from apps.planning.tasks import import_series_files
from apps.uploads.imports import SILENT_AFTER
from tests import make
from tests.apps.console.people import client_of, csv_rows, signed_in, words_of
from tests.browser.fleet import make_people

pytestmark = pytest.mark.django_db

UPLOAD = "/forecasts/imports/upload"
DAY_ONE = datetime(2026, 3, 2, tzinfo=UTC)
REFRESHES = 'hx-trigger="every 2s"'


@pytest.fixture(autouse=True)
def uploads_folder(settings, tmp_path) -> Path:
    cache.clear()
    make.make_organisation()
    make.make_pool("h100")
    make_people()
    settings.HOME = tmp_path
    return tmp_path / "uploads"


def by_hour(values: dict[int, str], header: str = "time,value") -> str:
    """Rows of these hours after day one."""
    rows = [
        f"{DAY_ONE + timedelta(hours=hour):%Y-%m-%d %H:%M},{text}" for hour, text in values.items()
    ]
    return "\n".join([header, *rows]) + "\n"


HOURS = by_hour({hour: str(40 + hour % 7) for hour in range(60) if hour not in {20, 21, 40}})


def sent(client: Client, content: str | bytes, name: str = "gpus.csv") -> str:
    raw = content if isinstance(content, bytes) else content.encode()
    answer = client.post(UPLOAD, {"file": SimpleUploadedFile(name, raw)})
    assert answer.status_code == 302
    return str(answer["Location"])


def entered(client: Client, path: str, title: str = "GPU-hours of pool h100") -> dict[str, str]:
    """The form as it stands there, with the series of this title chosen."""
    page = client.get(path).content.decode()
    form = page[page.index('id="reading"') :]
    chosen = dict(re.findall(r'<input id="[^"]*" name="([^"]+)" type="text" value="([^"]*)"', form))
    for name, options in re.findall(
        r'<select id="[^"]*" name="([^"]+)".*?>(.*?)</select>', form, re.DOTALL
    ):
        found = re.search(r'value="([^"]*)" selected', options)
        chosen[name] = found[1] if found else ""
    series = re.search(rf'value="([^"]*)"[^>]*>{re.escape(title)}<', form)
    assert series is not None
    return chosen | {"series": series[1]}


def looked_at(client: Client, content: str | bytes, **said: str) -> str:
    """Sent, looked at, said to be GPUs of the pool, looked at again; its page."""
    path = sent(client, content)
    import_series_files()
    client.post(f"{path}/reading", entered(client, path) | {"unit": "gpus"} | said)
    import_series_files()
    return path


def start(client: Client, path: str) -> HttpResponse:
    """Confirms what is shown there."""
    seen = re.search(r'name="seen"[^>]*value="(\w*)"', client.get(path).content.decode())
    return client.post(f"{path}/start", {"seen": seen[1] if seen else ""})


def kept_hours() -> list[tuple[Any, ...]]:
    return list(HistoryPoint.objects.order_by("hour").values_list("hour", "value"))


def test_a_history_is_shown_whole_before_it_is_imported(uploads_folder):
    client = client_of("finn")
    path = sent(client, HOURS)
    assert "gpus.csv is being looked at." in words_of(client.get(path))
    assert REFRESHES in client.get(path).content.decode()
    assert [each.stat().st_mode & 0o777 for each in uploads_folder.iterdir()] == [0o600]
    import_series_files()
    assert "Whose history is gpus.csv?" in words_of(client.get(path))
    assert start(client, path).status_code == 409

    client.post(f"{path}/reading", entered(client, path) | {"unit": "gpus"})
    import_series_files()
    shown = words_of(client.get(path))
    assert "gpus.csv has 57 hours of GPU-hours of pool h100." in shown
    assert "57 (2.4 days’ worth)" in shown
    assert "3 hours in 2 gaps" in shown
    assert "57 new, 0 with another value, 0 the same" in shown
    assert "GPU-hours of an hour" in shown
    assert not HistoryPoint.objects.exists()
    gaps = csv_rows(client.get(f"{path}.csv?table=gaps"))
    assert [row["hours"] for row in gaps] == ["2", "1"]
    first, *_ = csv_rows(client.get(f"{path}.csv?table=first-rows"))
    assert (first["row"], first["value"]) == ("2", "40.0")

    start(client, path)
    import_series_files()
    assert "57 hours of GPU-hours of pool h100 came from gpus.csv." in words_of(client.get(path))
    assert len(kept_hours()) == 57
    assert kept_hours()[0] == (DAY_ONE, 40.0)
    assert not any(uploads_folder.iterdir())
    assert "gpus.csv" in words_of(client.get("/forecasts/imports"))
    (listed,) = csv_rows(client.get("/forecasts/imports.csv"))
    assert (listed["series"], listed["person"], listed["new_or_changed_hours"]) == (
        "GPU-hours of pool h100",
        "Finn",
        "57",
    )


def test_what_was_read_in_another_way_since_it_was_shown_is_not_imported():
    client = client_of()
    path = looked_at(client, HOURS)
    (seen,) = re.findall(r'name="seen"[^>]*value="(\w*)"', client.get(path).content.decode())
    client.post(f"{path}/reading", entered(client, path) | {"unit": "gpu_seconds"})
    import_series_files()
    answer = client.post(f"{path}/start", {"seen": seen})
    assert answer.status_code == 409
    assert "is not read as it was shown: look at it again" in words_of(answer)
    import_series_files()
    assert not HistoryPoint.objects.exists()


def test_moments_of_parquet_finer_than_a_microsecond_are_read():
    nanoseconds = [1_772_409_600_000_000_123, 1_772_413_200_000_000_123]
    table = pa.table({"time": pa.array(nanoseconds, pa.timestamp("ns")), "value": [1, 2]})
    out = io.BytesIO()
    pq.write_table(table, out)
    assert "has 2 hours" in words_of((client := client_of()).get(looked_at(client, out.getvalue())))


def test_the_same_file_again_changes_nothing():
    client = client_of()
    for said in ("57 hours of GPU-hours of pool h100 came", "changed nothing: 57 hours were known"):
        path = looked_at(client, HOURS)
        start(client, path)
        import_series_files()
        assert said in words_of(client.get(path))


def test_the_hour_of_a_row_that_cannot_be_taken_stays_unknown_and_the_row_is_listed():
    values = dict.fromkeys(range(10), "8") | {3: "many", 4: "-1", 5: ""}
    path = looked_at(client_of(), by_hour(values) + "2026-03-02 07:00,9\nnever,5\n2026-03-02\n")
    client = client_of()
    assert "has 6 hours" in words_of(client.get(path))
    start(client, path)
    import_series_files()
    assert [hour.hour for hour, _ in kept_hours()] == [0, 1, 2, 6, 8, 9]
    assert "6 hours of GPU-hours of pool h100 came from gpus.csv; 5 rows could" in words_of(
        client.get(path)
    )
    rows = csv_rows(client.get(f"{path}.csv?table=rejected"))
    assert [(row["line"], row["field"], row["reason"]) for row in rows] == [
        ("5", "value", "'many' is no number"),
        ("6", "value", "'-1 is below 0"),  # no formula where a sheet opens it
        ("12", "time", "this moment is in row 9 already; a file is of one series"),
        ("13", "time", "'never' is no moment such as 2026-03-02 10:00, and no Unix seconds"),
        ("14", "value", "ends before this column"),
    ]


def test_sums_of_several_rows_are_not_made_where_one_has_no_moment():
    rows = [f"2026-03-02 {hour:02}:{minute},5" for hour in range(4) for minute in ("00", "30")]
    text = "\n".join(["time,value", *rows, "soon,5"]) + "\n"
    client = client_of()
    path = looked_at(client, text, unit="gpu_hours")
    shown = words_of(client.get(path))
    assert "It cannot be read so time: row 10: 'soon' is no moment" in shown
    assert "any may lack this one" in shown
    assert start(client, path).status_code == 409
    client.post(f"{path}/reading", entered(client, path) | {"unit": "gpus"})
    import_series_files()
    assert "has 4 hours" in words_of(client.get(path)), "a mean misses a reading, no more"


def test_rows_a_day_apart_are_taken_for_days_of_the_organisations_zone():
    days = [f"2026-03-{day:02};{day}" for day in range(2, 9)]
    client = client_of()
    path = sent(client, "\n".join(["Date;GPUs", *days]), "days.csv")
    import_series_files()
    form = entered(client, path)
    assert (form["time"], form["value"], form["rows"]) == ("Date", "GPUs", "days")
    client.post(f"{path}/reading", form | {"unit": "gpus"})
    import_series_files()
    assert "days.csv has 168 hours" in words_of(client.get(path))
    client.post(f"{path}/reading", form | {"unit": "gpus", "rows": "moments"})
    import_series_files()
    assert "Date: row 3 is 24 hours after row 2" in words_of(client.get(path))


def test_parquet_and_gzip_are_read_alike():
    hours = [DAY_ONE + timedelta(hours=hour) for hour in range(5)]
    table = pa.table({"time": hours, "who": ["x"] * 5, "value": [1.5, None, 2.0, 3.0, 4.0]})
    out = io.BytesIO()
    pq.write_table(table, out)
    packed = gzip.compress(by_hour({0: "1.5", 1: "", 2: "2", 3: "3", 4: "4"}).encode())
    found = []
    for content in (out.getvalue(), packed):
        client = client_of()
        path = looked_at(client, content)
        start(client, path)
        import_series_files()
        found.append(kept_hours())
        HistoryPoint.objects.all().delete()
    assert found[0] == found[1]
    assert [value for _, value in found[0]] == [1.5, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x1f\x8bnot really", "gpus.csv cannot be read"),
        (gzip.compress(HOURS.encode())[:-20], "gpus.csv cannot be read"),
        (b"\n\n", "the file is empty, or its first line is"),
        (b"time,value\n\xff\xfe,1\n", "it is no text in UTF-8; save it as CSV in UTF-8"),
        (b"PAR1 and no more", "the file is no Parquet that can be read"),
        (b"time,value\n2026-03-02," + b"9" * (1 << 20) + b"\n", "longer than a megabyte"),
        (b"time,value,value\n2026-03-02,1,2\n", "value: several columns are called so"),
        (b"time,value\n", "value: the file has no value in this column"),
        (b"time,value\n1970-01-01,1\n2026-03-02,1\n", "56 years apart, from row 2 to row 3"),
        (b"time,value\n2026-03-02;12,5\n", "none of its rows can be taken"),
    ],
)  # fmt: skip
def test_what_is_no_history_says_so_and_can_be_discarded(uploads_folder, content, said):
    client = client_of()
    path = sent(client, content)
    import_series_files()
    assert said in words_of(client.get(path))
    assert start(client, path).status_code == 409
    client.post(f"{path}/discard")
    import_series_files()
    assert "was discarded" in words_of(client.get(path))
    assert not any(uploads_folder.iterdir())
    assert "already" in words_of(client.post(f"{path}/discard", follow=True))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"unit": ""}, "unit: say what a value is in, one of gpus, gpu_hours, gpu_seconds"),
        ({"unit": "requests"}, "unit: 'requests' is none of gpus, gpu_hours, gpu_seconds"),
        ({"value": "time"}, "none of its rows can be taken; the first is row 2"),
    ],
)
def test_what_is_said_of_a_file_may_be_wrong(given, said):
    client = client_of()
    assert said in words_of(client.get(looked_at(client, HOURS, **given)))


def test_a_zone_that_there_is_not_is_refused_at_its_field():
    client = client_of()
    path = sent(client, HOURS)
    import_series_files()
    answer = client.post(f"{path}/reading", entered(client, path) | {"zone": "Mars"})
    assert answer.status_code == 400
    assert "Mars is no time zone such as Europe/Berlin." in words_of(answer)


def test_an_hour_that_is_not_over_is_rejected_and_takes_nothing_from_others():
    ahead = datetime.now(UTC) + timedelta(days=2)
    client = client_of()
    path = looked_at(client, HOURS + f"{ahead:%Y-%m-%d %H:%M},4\n")
    assert "has 57 hours" in words_of(client.get(path))
    (row,) = csv_rows(client.get(f"{path}.csv?table=rejected"))
    assert row["reason"] == "its hour is not over yet: history ends before it"


def test_an_import_whose_worker_died_is_begun_again_and_nothing_was_kept():
    client = client_of()
    path = looked_at(client, HOURS)
    start(client, path)
    at = make.NOON
    claimed = series_uploads.claim_series_file(at=at)
    assert claimed is not None
    assert claimed.is_confirmed
    assert "is being imported" in words_of(client.get(path))
    assert not HistoryPoint.objects.exists()
    assert series_uploads.claim_series_file(at=at + SILENT_AFTER / 2) is None
    SeriesImport.objects.update(alive_at=datetime.now(UTC) - 2 * SILENT_AFTER)
    import_series_files()
    assert "57 hours of GPU-hours of pool h100 came" in words_of(client.get(path))


def test_what_is_discarded_while_it_is_read_is_not_imported():
    client = client_of()
    path = looked_at(client, HOURS)
    start(client, path)
    claimed = series_uploads.claim_series_file(at=make.NOON)
    assert claimed is not None
    client.post(f"{path}/discard")
    assert not series_uploads.still_wanted(claimed=claimed, read_bytes=9, at=make.NOON)


def test_what_is_asked_while_a_worker_looks_is_looked_at_next():
    client = client_of()
    path = looked_at(client, HOURS)
    form = entered(client, path)
    client.post(f"{path}/reading", form | {"unit": "gpu_hours"})
    claimed = series_uploads.claim_series_file(at=make.NOON)
    assert claimed is not None
    client.post(f"{path}/reading", form | {"unit": "gpu_seconds"})
    assert not series_uploads.still_wanted(claimed=claimed, read_bytes=9, at=make.NOON)
    series_uploads.record_series_preview(
        import_id=claimed.id,
        reading=claimed.asked,
        preview={"trial": None},
        read=series_uploads.RowsRead(1),
    )
    import_series_files()
    assert SeriesImport.objects.get().asked["unit"] == "gpu_seconds"


def test_a_file_that_is_gone_says_so(uploads_folder):
    client = client_of()
    path = sent(client, HOURS)
    for each in uploads_folder.iterdir():
        each.unlink()
    import_series_files()
    assert "the uploaded file is no longer there. Nothing of it was imported" in words_of(
        client.get(path)
    )


def test_a_file_too_large_or_without_its_token_leaves_nothing_behind(uploads_folder, monkeypatch):
    given = {"file": SimpleUploadedFile("gpus.csv", HOURS.encode())}
    assert client_of(enforce_csrf_checks=True).post(UPLOAD, given).status_code == 403
    assert "No file came" in words_of(client_of().post(UPLOAD, {}))
    monkeypatch.setitem(settings.LARGEST_BODIES, BodyKind.SERIES, 10 - FORM_BYTES)
    given = {"file": SimpleUploadedFile("gpus.csv", HOURS.encode())}
    assert client_of().post(UPLOAD, given).status_code == 413
    assert not uploads_folder.exists() or not any(uploads_folder.iterdir())


@pytest.mark.parametrize("role", ["lead", "viewer"])
def test_only_who_sees_everything_imports(uploads_folder, role):
    path = sent(client_of("finn"), HOURS)
    client = signed_in(role, make.make_team("Blue"))
    assert "Import a series" not in words_of(client.get("/forecasts"))
    for page in (
        "/forecasts/imports",
        "/forecasts/imports.csv",
        path,
        f"{path}.csv?table=rejected",
    ):
        assert client.get(page).status_code == 403
    for action in (UPLOAD, f"{path}/reading", f"{path}/start", f"{path}/discard"):
        given = {"file": SimpleUploadedFile("gpus.csv", b"x")}
        assert client.post(action, given).status_code == 403
    assert len(list(uploads_folder.iterdir())) == 1


def test_the_guide_leads_there_and_is_done_once_one_is_imported():
    client = client_of()
    guide = client.get("/setup/first-day")
    assert 'href="/forecasts/imports"' in guide.content.decode()
    assert 'href="/forecasts/imports"' in client.get("/forecasts").content.decode()
    path = looked_at(client, HOURS)
    start(client, path)
    import_series_files()
    assert "1 series has an imported history." in words_of(client.get("/setup/first-day"))


def test_the_pages_load_no_reader_of_histories():
    said = (
        "import sys, django; django.setup(); import controlplane.urls;"
        "print([name for name in sys.modules if name.startswith(('apps.planning.providers',"
        " 'apps.economics.forecast.series', 'pyarrow'))])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", said], stdout=subprocess.PIPE, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
