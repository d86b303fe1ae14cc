"""A portfolio as people meet it: every table is whole on a laptop."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.core.cache import cache

from apps.planning import actions
from apps.planning.solvers.portfolio import series_answer
from apps.pricing import actions as pricing
from tests.apps.planning.portfolio_scene import AT, FAMILY, QUICK, make_portfolio_world
from tests.browser.conftest import Desk, fits_in_both_schemes, opened
from tests.browser.fleet import make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture
def answered() -> None:
    """An answer with large amounts, paid in part at once, and a second offer."""
    cache.clear()
    make_portfolio_world()
    make_people("Finn")
    pricing.add_commitment(
        commitment=pricing.EnteredCommitment(
            name="p5 for three years, half upfront", kind="reserved", currency="USD", provider="aws",
            region="us-east-1", starts_at=datetime(2026, 3, 1, tzinfo=UTC), units=1,
            ends_at=datetime(2029, 2, 28, tzinfo=UTC), instance_type="p5.48xlarge",
            upfront=Decimal(700_000), hourly=Decimal(26),
        ),
        at=AT,
    )  # fmt: skip
    family = {"name": FAMILY, "demand": {"hours": [128.0] * 24}}
    actions.request_portfolio(
        overlay=QUICK | {"months": 12, "families": [family]}, asked_by_id=None, at=AT
    )
    actions.answer_portfolios(solver=series_answer, clock=lambda: AT)


def test_every_table_is_whole_on_a_laptop_and_the_page_fits_a_phone(
    live_server, desk: Desk, answered
) -> None:
    page = opened(desk.page(), f"{live_server.url}/portfolio")
    wide = page.evaluate(
        """() => [...document.querySelectorAll('main table')].map(table => [
            table.closest('section')?.querySelector('h2')?.textContent ?? '',
            table.scrollWidth - table.parentElement.clientWidth])"""
    )
    assert len(wide) == 8
    assert [title for title, beyond in wide if beyond > 0] == []
    page.set_viewport_size({"width": 390, "height": 900})
    fits_in_both_schemes(page)
