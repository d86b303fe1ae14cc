"""From a month's runs to the picture of one, to two side by side, to what more GPUs would bring."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from apps.economics.run_time import Bucket
from apps.workloads.models import RunEvent, RunSpan
from tests import make
from tests.apps.unit_economics import planted_runs as planted
from tests.browser.conftest import Desk, fits, opened

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
MICROS, HOUR = planted.MICROS, planted.HOUR
SIZES = ((8, 100_000.0), (16, 190_000.0), (32, 340_000.0), (64, 560_000.0))


def make_runs() -> None:
    """Four runs of a programme on more and more GPUs, each interrupted once; one is starved."""
    programme = planted.make_programme("pretrain-8b")
    for place, (gpus, rate) in enumerate(SIZES):
        make_run(programme, f"july-{place}", gpus, rate, place)


def make_run(programme: int, key: str, gpus: int, rate: float, place: int) -> None:
    """Ten hours of two starts: the first lost its last hour."""
    spent = {
        Bucket.PRODUCTIVE: 42.0,
        Bucket.DATA_WAIT: 4.0 + 6 * place,
        Bucket.LOST: 6.0,
        Bucket.CHECKPOINT: 3.0,
        Bucket.STARTUP: 2.0,
        Bucket.UNTOLD: 3.0,
    }
    whole = sum(spent.values())
    began_at = planted.TEN + timedelta(days=place)
    ends_at = began_at + 10 * HOUR
    by_bucket = [round(10 * gpus * spent.get(bucket, 0) / whole * 3_600_000) for bucket in Bucket]
    run_id = planted.plant_run(
        key,
        programme,
        began_at=began_at,
        ended_at=ends_at,
        gpus=gpus,
        tokens=round(rate * 25_000),
        tokens_per_second=rate,
        mfu_ratio=0.44 - 0.03 * place if place < 3 else 1.3,
        mfu_doubt="" if place < 3 else "more than the GPUs can do",
        scaling_ratio=1 - 0.06 * place,
        first_good_seconds=7_200.0 + 600 * place,
        good_checkpoints=2,
        effective_micros=25 * gpus * MICROS,
        checkpoint_micros=25 * gpus * MICROS // 2,
        million_tokens_micros=round(25 * gpus * MICROS / (rate * 25_000 / 1e6)),
        unit_milliseconds=10 * gpus * planted.MS_PER_HOUR,
        goodput_ratio=42 / (whole - 3),
        told_ratio=1 - 3 / whole,
        bucket_unit_ms=by_bucket,
    )
    hours = {bucket: 10 * gpus * part / whole for bucket, part in spent.items()}
    job_id = planted.plant_day(run_id, hours, day=began_at.date())
    RunSpan.objects.create(run_id=run_id, job_id=job_id, period=(began_at, ends_at))
    for hour in range(10):
        minutes = {bucket: 60 * part / whole for bucket, part in spent.items()}
        planted.plant_hour(run_id, job_id, minutes, began_at + hour * HOUR)
    cut = began_at + 4 * HOUR
    planted.plant_attempt(
        run_id, job_id=job_id, began_at=began_at, ended_at=cut, status="interrupted"
    )
    attempt_id = planted.plant_attempt(
        run_id, job_id=job_id, restarts=1, began_at=cut, ended_at=ends_at, heard_at=ends_at
    )
    for number, after in enumerate((5, 9)):
        RunEvent.objects.create(
            attempt_id=attempt_id,
            sequence=number,
            part=0,
            kind="good_checkpoint",
            at=began_at + after * HOUR,
            step=1_000 * after,
            metric=2.5 - number / 10,
        )


@pytest.fixture
def site(live_server: Any) -> str:
    """The address of a console over four runs in March; Finn is of finance."""
    cache.clear()
    make.make_organisation()
    make_runs()
    make.make_person("finn@example.org", name="Finn", role="finance")
    return str(live_server.url)


def test_runs_lead_to_a_picture_a_comparison_and_an_answer(desk: Desk, site: str) -> None:
    page = opened(desk.page(390), f"{site}/runs?window=2026-03")
    title = page.get_by_role("heading", level=1)
    expect(title).to_contain_text("4 training runs cost $3,000 in March 2026")
    fits(page)
    page.get_by_label("Compare july-0").check()
    page.get_by_label("Compare july-3").check()
    page.get_by_role("button", name="Compare the chosen runs").click()
    expect(title).to_contain_text("july-3 cost $1,400 more than july-0")
    fits(page)
    page.get_by_role("link", name="july-3").first.click()
    expect(title).to_contain_text("july-3 cost $1,600 in 10 h on 64 GPUs")
    expect(page.get_by_role("img", name="Productive")).to_be_visible()
    expect(page.get_by_role("region", name="Key metrics")).to_contain_text("130 %, impossible")
    fits(page)
    page.goto(
        page.get_by_role("link", name="pretrain-8b").evaluate(
            "each => each.href + '?window=2026-03'"
        )
    )
    page.get_by_label("What would").fill("96")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#answer")).to_contain_text("→ 96")
    expect(page.locator("#cost-to-train .chart .plot-container")).to_be_visible()
    fits(page)
