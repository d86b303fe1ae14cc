"""The platform gives jobs an owner, and imports a file, in a real browser; also without script."""

from pathlib import Path

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from apps.workloads import queries as workloads
from apps.workloads.tasks import import_uploads
from tests import make
from tests.apps.ledger import scene
from tests.browser.conftest import fits, opened
from tests.browser.fleet import HOUR, make_fleet, make_people

pytestmark = pytest.mark.django_db(transaction=True)

JOBS = """job,start,end,host,num_gpus,proj
1,2026-03-01T10:00:00,2026-03-01T11:00:00,gpu-01,8,nlp
2,2026-03-01T10:00:00,2026-03-01T09:00:00,gpu-01,8,nlp
"""


@pytest.fixture(autouse=True)
def _fleet() -> None:
    """Eight GPUs of account `nlp` that nobody owns, for an hour."""
    cache.clear()
    now = make_fleet()
    began_at = now.replace(hour=10, minute=0, second=0, microsecond=0) - 24 * HOUR
    node_id = scene.make_priced_node("gpu-02", started_at=began_at, at=now)
    scene.make_job("2", node_id, from_=began_at, to=began_at + HOUR, account="nlp")
    scene.settle(now, starts_at=began_at, ends_at=began_at + 2 * HOUR)
    make.make_team("Vision")
    make_people()


@pytest.mark.parametrize("has_script", [True, False])
def test_what_nobody_owns_gets_an_owner(desk, live_server, has_script):
    page = opened(
        desk.page(java_script_enabled=has_script), f"{live_server.url}/ownership", "petra"
    )
    expect(page.get_by_role("heading", level=1)).to_contain_text("has no owner")
    page.get_by_role("link", name="Assign A rule for nlp").click()
    page.get_by_label("Belongs to").select_option(label="Vision, no workload")
    page.get_by_role("button", name="Show what would move").click()
    finding = page.get_by_role("heading", level=1)
    expect(finding).to_have_text("1 job with 8.00 GPU-hours, $98.32, would move to Vision.")
    page.get_by_role("button", name="Save this rule").click()
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    expect(finding).to_have_text("Jobs of account nlp, in cluster atlas belong to Vision.")


def test_a_file_of_jobs_is_imported(desk, live_server, settings, tmp_path: Path):
    settings.HOME = tmp_path
    file = tmp_path / "jobs.csv"
    file.write_text(JOBS)
    page = opened(desk.page(390), f"{live_server.url}/setup/imports", "petra")
    page.get_by_label("File").set_input_files(str(file))
    page.get_by_role("button", name="Send").click()
    finding = page.get_by_role("heading", level=1)
    expect(finding).to_have_text("jobs.csv is being looked at.")
    import_uploads()
    # The page asks again by itself.
    expect(finding).to_have_text("How is jobs.csv to be read?")
    page.locator("input[name=cluster]").fill("atlas")
    page.get_by_label("Account").select_option("proj")
    page.get_by_role("button", name="Look again, read so").click()
    import_uploads()
    expect(finding).to_have_text("Of the first 2 rows of jobs.csv, 1 is a job.")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        fits(page)
    page.get_by_role("button", name="Import the whole file").click()
    import_uploads()
    expect(finding).to_have_text("1 job came from jobs.csv; 1 row could not be taken.")
    expect(page.locator("#rejected")).to_contain_text("is before the start")
    assert workloads.imports(1)[0].imported == 1
