"""The pages of training runs: what they cost, where their time went, what more GPUs would bring."""

import html
import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.economics.run_time import Bucket
from apps.workloads.models import Job, RunAttempt, RunEvent, RunScore, RunSpan, RunSummary
from bench.pages_ask import counted_statements
from tests import make
from tests.apps.console.people import csv_rows, signed_in, words_of
from tests.apps.unit_economics import planted_runs as planted

pytestmark = pytest.mark.django_db
NOW = make.NOON + timedelta(days=2)
MICROS = planted.MICROS
USUAL = {
    "tokens": 4_000_000_000,
    "tokens_per_second": 111_111.0,
    "mfu_ratio": 0.41,
    "scaling_ratio": 0.9,
    "first_good_seconds": 7_200.0,
    "good_checkpoints": 4,
    "checkpoint_micros": 400 * MICROS,
    "million_tokens_micros": 400_000,
    "told_ratio": 0.9,
    "goodput_ratio": 0.8,
    "effective_micros": 1600 * MICROS,
    "unit_milliseconds": 640 * planted.MS_PER_HOUR,
    "bucket_unit_ms": [0] * 7 + [640 * planted.MS_PER_HOUR] + [0] * 3,
    "bucket_micros": [0] * 7 + [1600 * MICROS] + [0] * 3,
}


@pytest.fixture(autouse=True)
def _two_days_later(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    make.make_organisation()
    monkeypatch.setattr(timezone, "now", lambda: NOW)


@pytest.fixture
def finn() -> Client:
    return signed_in("finance")


def make_run(key: str = "july-3", workload_id: int | None = None, **figures: object) -> int:
    """A run of 640 GPU-hours at 2.50: 512 productive, 96 lost, 32 not told."""
    run_id = planted.plant_run(key, workload_id, **(USUAL | figures))
    spent = {Bucket.PRODUCTIVE: 512, Bucket.LOST: 96, Bucket.UNTOLD: 32}
    job_id = planted.plant_day(run_id, spent)
    period = (planted.TEN, planted.TEN + 10 * planted.HOUR)
    RunSpan.objects.create(run_id=run_id, job_id=job_id, period=period)
    for hour in range(10):
        minutes = {Bucket.PRODUCTIVE: 48, Bucket.LOST: 9, Bucket.UNTOLD: 3}
        planted.plant_hour(run_id, job_id, minutes, planted.TEN + hour * planted.HOUR)
    return run_id


def test_the_title_says_what_runs_cost_and_how_much_bought_no_progress(finn: Client) -> None:
    make_run(workload_id=planted.make_programme())
    text = words_of(finn.get("/runs"))
    # 640 GPU-hours at 2.50, of them 96 lost and 32 of which nobody told.
    assert "1 training run cost $1,600 in the last 30 days" in text
    assert "15 % of it was not productive, and 5 % of it was not reported." in text
    assert "Not productive $240 15 %; work lost and redone $240" in text
    assert "Not known $80.00 of time that no run reported" in text


def test_a_run_is_listed_with_its_figures_and_sorted_by_any(finn: Client) -> None:
    programme = planted.make_programme()
    make_run("slow", programme, mfu_ratio=0.2)
    make_run("fast", programme, mfu_ratio=0.5)
    answer = words_of(finn.get("/runs?sort=-mfu"))
    assert answer.index("Compare fast") < answer.index("Compare slow")
    answer = words_of(finn.get("/runs?sort=mfu"))
    assert answer.index("Compare slow") < answer.index("Compare fast")
    assert "$1,600.00" in answer
    assert "111k" in answer


def test_the_rows_of_the_list_are_those_of_its_csv(finn: Client) -> None:
    make_run(workload_id=planted.make_programme())
    (row,) = csv_rows(finn.get("/runs.csv"))
    assert row["key"] == "july-3"
    assert row["cost"] == "1600.000000"
    assert row["mfu_ratio"] == "0.410000"
    (day,) = csv_rows(finn.get("/runs.csv?table=days"))
    assert (day["productive"], day["lost"], day["untold"]) == (
        "1280.000000",
        "240.000000",
        "80.000000",
    )
    assert day["total"] == "1600.000000"


def test_more_than_fifty_runs_are_turned_page_by_page(finn: Client) -> None:
    programme = planted.make_programme()
    for number in range(52):
        began_at = planted.TEN + timedelta(minutes=number)
        planted.plant_run(f"run {number:02}", programme, began_at=began_at)
    first = finn.get("/runs")
    assert "50 of 52 runs" in words_of(first)
    following = re.search(r'rel="next" href="([^"#]+)', first.content.decode())
    assert following is not None
    second = words_of(finn.get(html.unescape(following[1])))
    assert "Compare run 01" in second
    assert "Compare run 02" not in second


def test_filters_leave_runs_out_and_what_is_not_understood_is_said(finn: Client) -> None:
    make_run("llama", planted.make_programme("llm"))
    make_run("whisper", planted.make_programme("speech", "Audio"), status="failed")
    text = words_of(finn.get("/runs?team=Audio"))
    assert "Compare whisper" in text
    assert "Compare llama" not in text
    assert "Compare llama" not in words_of(finn.get("/runs?status=failed"))
    assert "Compare whisper" not in words_of(finn.get("/runs?workload=llm"))
    assert "There is no workload named 'nobodys'" in words_of(finn.get("/runs?workload=nobodys"))
    assert "There is no column 'shoes'" in words_of(finn.get("/runs?sort=shoes"))


def test_an_impossible_mfu_is_flagged_and_tensor_active_called_that(finn: Client) -> None:
    programme = planted.make_programme()
    make_run("wrong", programme, mfu_ratio=1.3, mfu_doubt="More than the GPUs can do.")
    make_run("unsaid", programme, mfu_ratio=None, tensor_active_ratio=0.38)
    text = words_of(finn.get("/runs"))
    assert "130 %, impossible" in text
    assert "38 % tensor-active" in text


def test_before_the_first_run_the_page_teaches_how_runs_tell_of_themselves(finn: Client) -> None:
    text = words_of(finn.get("/runs"))
    assert "No training run is known in the last 30 days." in text
    assert "/downloads/runrate_sdk-" in text
    assert "runrate wrap -- torchrun train.py" in text


def test_one_run_shows_where_its_money_went_and_the_parts_are_the_whole(finn: Client) -> None:
    run_id = make_run(workload_id=planted.make_programme())
    text = words_of(finn.get(f"/runs/{run_id}"))
    assert "july-3 cost $1,600 in 10 h on 64 GPUs; 15 % of it was not productive." in text
    assert "Productive $1,280.00 80 % 512 8 h –" in text
    assert "$240.00 15 %" in text
    assert "Total $1,600.00 100 % 640 10 h –" in text
    rows = csv_rows(finn.get(f"/runs/{run_id}.csv?table=buckets"))
    assert sum(float(row["cost"]) for row in rows) == 1600


def test_the_picture_of_a_run_has_its_buckets_attempts_and_marks(finn: Client) -> None:
    run_id = make_run(workload_id=planted.make_programme())
    job = Job.objects.get(raw_id__startswith=f"{run_id}-")
    attempt_id = planted.plant_attempt(
        run_id, job_id=job.id, status="interrupted", ended_at=planted.TEN + 4 * planted.HOUR
    )
    RunEvent.objects.create(
        attempt_id=attempt_id,
        sequence=1,
        part=0,
        kind="good_checkpoint",
        at=planted.TEN + 2 * planted.HOUR,
        step=1000,
        metric=2.345,
    )
    answer = finn.get(f"/runs/{run_id}")
    page = answer.content.decode()
    assert (
        "80 % of the time was kept training steps; it was interrupted or failed once"
        in words_of(answer)
    )
    assert f'aria-label="Job {job.raw_id}: Productive 80' in page
    assert 'class="patch state-run-productive" d="M0.0' in page
    assert "Not reported: 30 min" in page
    assert "Good checkpoint, 2 March 2026, 12:00 UTC, step 1,000" in page
    assert "Interrupted, 2 March 2026, 14:00 UTC" in page
    assert "2.345" in words_of(answer)


def test_each_of_the_five_numbers_says_what_is_usual_and_what_to_mind(finn: Client) -> None:
    programme = planted.make_programme()
    for number in range(3):
        make_run(f"before-{number}", programme, mfu_ratio=0.3)
    unknown = {"first_good_seconds": None, "checkpoint_micros": None, "good_checkpoints": 0}
    run_id = make_run("now", programme, **unknown)
    text = words_of(finn.get(f"/runs/{run_id}"))
    assert "41 % 30 %, the median of 3 other runs" in text
    assert "– not known: No checkpoint has passed. 2 h, the median of 3 other runs" in text


def test_what_stands_out_is_told_with_what_it_cost(finn: Client) -> None:
    programme = planted.make_programme()
    run_id = planted.plant_run("starved", programme, **USUAL)
    planted.plant_day(run_id, {Bucket.PRODUCTIVE: 59, Bucket.DATA_WAIT: 41})
    text = words_of(finn.get(f"/runs/{run_id}"))
    assert "41 % of GPU time waits for data" in text
    assert "No counters of the nodes were seen" in text


def test_a_run_that_told_nothing_is_shown_as_not_told(finn: Client) -> None:
    programme = planted.make_programme()
    run_id = planted.plant_run("silent", programme, effective_micros=250 * MICROS)
    planted.plant_day(run_id, {Bucket.UNTOLD: 100})
    answer = finn.get(f"/runs/{run_id}")
    text = words_of(answer)
    assert "silent cost $250 in 10 h on 64 GPUs; what it was spent on was not reported." in text
    assert "The run reported too little of its time for a verdict." in text
    assert "is-hatched" in answer.content.decode()


def test_a_run_says_when_it_diverged_and_one_without_a_loss_that_nobody_knows(finn: Client) -> None:
    run_id = make_run()
    assert "no loss reported: whether it diverged is not known" in words_of(
        finn.get(f"/runs/{run_id}")
    )
    attempt = RunAttempt.objects.create(
        run_id=run_id, key="a", began_at=planted.TEN, heard_at=planted.TEN
    )
    RunScore.objects.create(
        attempt=attempt, sequence=0, part=0, name="loss", at=planted.TEN, higher_is_better=False
    )
    text = words_of(finn.get(f"/runs/{run_id}"))
    assert "diverged" not in text.lower()
    hour = planted.HOUR
    RunSummary.objects.filter(run_id=run_id).update(
        diverged=[(planted.TEN + 2 * hour, planted.TEN + 4 * hour), (planted.TEN + 7 * hour, None)],
    )
    text = words_of(finn.get(f"/runs/{run_id}"))
    assert "diverged from 2 March 2026, 12:00 UTC to 2 March 2026, 14:00 UTC" in text
    assert "diverged from 2 March 2026, 17:00 UTC" in text


def test_two_runs_stand_side_by_side_with_what_differs(finn: Client) -> None:
    programme = planted.make_programme()
    one = make_run("first", programme)
    other = planted.plant_run("second", programme, **(USUAL | {"wall_seconds": 72_000.0}))
    planted.plant_day(other, {Bucket.PRODUCTIVE: 512, Bucket.DATA_WAIT: 400})
    text = words_of(finn.get(f"/runs/compare?run={one}&run={other}"))
    assert "second cost $680 more than first: $1,000 of data wait" in text
    assert "second against first: cost $680 more (+42 %), took 10 h more (+100 %)" in text
    rows = csv_rows(finn.get(f"/runs/compare.csv?run={one}&run={other}"))
    assert {"what": "Duration", "first": "10 h", "second": "20 h"} in rows


def test_a_comparison_of_nothing_says_how_to_choose(finn: Client) -> None:
    text = words_of(finn.get("/runs/compare?run=one&run=987654321"))
    assert "Choose two or more runs to compare" in text
    assert "A run is named by its number" in text
    assert "There is no such run." in text


def make_scaled_programme() -> int:
    """Finished runs on 8, 16, 32 and 64 GPUs, each a little less than twice as fast."""
    programme = planted.make_programme()
    for gpus, rate in ((8, 100.0), (16, 190.0), (32, 340.0), (64, 560.0)):
        make_run(f"on-{gpus}", programme, gpus=gpus, tokens_per_second=rate)
    return programme


def test_a_programme_answers_what_a_number_of_gpus_would_bring(finn: Client) -> None:
    programme = make_scaled_programme()
    answer = finn.get(f"/workloads/{programme}/runs?gpus=96")
    text = words_of(answer)
    assert "4 runs of llm cost $6,400 in the last 90 days" in text
    assert "GPUs (" in text
    assert "→ 96)" in text
    assert "train a model version in" in text
    assert 'data-figure="cost-to-train-figure"' in answer.content.decode()


def test_a_programme_refuses_in_words_what_no_run_can_say(finn: Client) -> None:
    programme = make_scaled_programme()
    answer = finn.get(f"/workloads/{programme}/runs?gpus=4096")
    assert "over twice the largest run seen, 64" in words_of(answer)
    assert 'data-figure="time-to-train-figure"' in answer.content.decode()
    text = words_of(finn.get(f"/workloads/{programme}/runs?gpus=many"))
    assert "Say a number of GPUs, as in 128." in text


def test_a_programme_of_one_size_of_run_is_refused_a_curve(finn: Client) -> None:
    programme = planted.make_programme()
    make_run("only", programme)
    text = words_of(finn.get(f"/workloads/{programme}/runs"))
    assert "No answer Runs on 3 different numbers of GPUs are needed" in text
    assert "1 of 1 run" in text


def test_a_member_sees_their_teams_runs_and_of_others_that_there_is_none() -> None:
    own, others = planted.make_programme("own"), planted.make_programme("theirs", "Others")
    mine, hidden = make_run("mine", own), make_run("hidden", others)
    team = next(each.id for each in accounts.teams() if each.name == "Research")
    lead = signed_in("lead", team)
    text = words_of(lead.get("/runs"))
    assert "1 training run cost $1,600" in text
    assert "hidden" not in text
    assert lead.get(f"/runs/{mine}").status_code == 200
    for path in (
        f"/runs/{hidden}",
        f"/runs/{hidden}.csv?table=jobs",
        f"/workloads/{others}/runs",
    ):
        assert lead.get(path).status_code == 404
    text = words_of(lead.get(f"/runs/compare?run={mine}&run={hidden}"))
    assert "There is no such run." in text
    assert "hidden" not in text


def test_search_leads_a_run_to_its_page(finn: Client) -> None:
    run_id = make_run("kestrel-7", planted.make_programme())
    assert f'href="/runs/{run_id}"' in finn.get("/search?q=kestrel").content.decode()


@pytest.mark.parametrize("role", ["finance", "lead"])
@pytest.mark.parametrize(
    "path",
    [
        "/runs",
        "/runs/compare?run={run}&run={other}&run={another}",
        "/workloads/{workload}/runs",
        "/runs/{run}",
    ],
)
def test_a_page_asks_no_more_for_more_runs(role: str, path: str) -> None:
    programme = make_scaled_programme()
    run_id, other, another = (make_run(key, programme) for key in ("asked", "two", "three"))
    team = next(each.id for each in accounts.teams() if each.name == "Research")
    client = signed_in(role, *([team] if role == "lead" else []))
    address = path.format(run=run_id, other=other, another=another, workload=programme)
    client.get(address)
    with counted_statements() as asked:
        assert client.get(address).status_code == 200
    assert asked() <= 15
