"""Services as people meet them: the finding, the picture with what changed, units on a phone."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from apps.ledger.actions.partitions import ensure_month
from tests import make
from tests.apps.unit_economics import service_scene as services
from tests.apps.unit_economics.service_scene import DOLLAR, HOUR
from tests.browser.conftest import Desk, fits, opened
from tests.browser.fleet import make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
DAY = timedelta(days=1)


@pytest.fixture
def chat() -> int:
    """Twelve days of a service, dearer since it was deployed five days ago; half of it idle."""
    cache.clear()
    make.make_organisation()
    make_people("Finn")
    team, pool = make.make_team(), make.make_pool()
    one = services.make_service(team, "chat")
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for back in range(12, 0, -1):
        day = today - back * DAY
        ensure_month(month=day.date().replace(day=1))
        for place in range(2):
            services.make_line(pool, team, one, hour=day + place * HOUR, kind="service",
                               micros=DOLLAR + (DOLLAR // 4 if back <= 5 else 0))  # fmt: skip
        services.count(one, day, feature="ask", requests=4_000 + back, prompt_tokens=900_000,
                       cached_tokens=200_000, output_tokens=90_000,
                       latency_bounds_seconds=[1.0, 2.0, 4.0],
                       latency_counts=[3_000, 700, 200, 100])  # fmt: skip
        services.count(one, day, feature="summarise", requests=300, prompt_tokens=500_000,
                       cached_tokens=0, output_tokens=20_000)  # fmt: skip
        services.count(one, day + HOUR, feature="ask", requests=0, prompt_tokens=0,
                       cached_tokens=0, output_tokens=0)  # fmt: skip
        services.roll_up(pool, day=day)
    services.promise(one)
    services.change(one, "chat 2.4.0", today - 5 * DAY + HOUR)
    return one


def test_a_service_is_found_and_read_on_a_phone_in_the_dark(
    live_server, desk: Desk, chat: int
) -> None:
    page = opened(desk.page(390, color_scheme="dark"), f"{live_server.url}/services")
    expect(page.get_by_role("heading", level=1)).to_contain_text(
        "50 % of the cost was hours without"
    )
    expect(page.locator(".chart .plot-container")).to_be_visible()
    fits(page)

    page.get_by_role("link", name="chat", exact=True).click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("chat answers 1,000 requests for")
    expect(page.locator(".chart .plot-container")).to_be_visible()
    expect(page.get_by_role("region", name="By feature")).to_contain_text("No requests")
    fits(page)

    page.locator("summary", has_text="Filters").click()
    page.get_by_role("combobox", name="Unit cost of").select_option("usage")

    expect(page).to_have_url(re.compile(r"[?&]allocation=usage"))
    expect(page.locator(".under")).to_contain_text("units carry what was active of it")
