"""What somebody chose on one page holds on the next: the period, the basis, what it is narrowed to."""

import re
from datetime import date, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from apps.console.kit.sticky_filters import carried_texts, onward, with_custom_days
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger.explored import make_explored

pytestmark = pytest.mark.django_db
CHOSEN = {"window": "2026-03-03/2026-03-04", "team": "=Research", "basis": "list"}
PAGES = ("/", "/costs", "/runs", "/services", "/team-work", "/ownership", "/bills", "/fleet")


@pytest.fixture(scope="module", autouse=True)
def _explored(of_module: None) -> None:
    make_explored()


@pytest.fixture
def finn() -> Client:
    return signed_in("finance")


def page_of(client: Client, path: str, **given: str) -> str:
    answer = client.get(path, given)
    assert answer.status_code == 200, answer
    return unescape(answer.content.decode())


def navigation(html: str) -> list[dict[str, list[str]]]:
    """What each address of the navigation says."""
    nav = html.partition('aria-label="Main"')[2].partition("</nav>")[0]
    return [parse_qs(urlsplit(href).query) for href in re.findall(r'href="([^"]*)"', nav)]


@pytest.mark.parametrize("path", PAGES)
def test_the_navigation_takes_along_what_was_chosen(finn: Client, path: str) -> None:
    found = navigation(page_of(finn, path, **CHOSEN, sort="-cost"))

    assert len(found) > 15
    for says in found:
        assert says == {name: [text] for name, text in CHOSEN.items()}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_says_what_it_keeps_for_others_and_its_form_sends_it_on(
    finn: Client, path: str
) -> None:
    html = page_of(finn, path, **CHOSEN)
    form = html.partition('class="filters"')[2].partition("</form>")[0]
    own = {name for name in CHOSEN if f'select name="{name}"' in form}
    kept = html.partition("Kept for other pages, not used here: ")[2].partition("</p>")[0]

    for name, word in {"window": "period", "team": "team", "basis": "cost"}.items():
        assert (word in kept) == (name not in own)
        assert "3 March 2026" in kept or "window" in own
        if form and name not in own:
            assert f'type="hidden" name="{name}" value="{CHOSEN[name]}"' in form


@pytest.mark.parametrize("path", ["/", "/costs", "/runs", "/services", "/team-work", "/ownership"])
def test_every_page_begins_with_the_same_period(finn: Client, path: str) -> None:
    chosen = re.findall(r'<option value="(\w+)" selected', page_of(finn, path))

    assert chosen[0] == "30d"


def test_days_of_ones_own_become_one_window_of_the_address(finn: Client) -> None:
    sent = {"window": "own", "from": "2026-03-01", "to": "2026-03-03", "team": "=Research"}
    answer = finn.get("/", sent)

    assert answer.status_code == 302
    assert parse_qs(urlsplit(answer["Location"]).query) == {
        "window": ["2026-03-01/2026-03-04"],
        "team": ["=Research"],
    }
    html = page_of(finn, answer["Location"])
    assert 'value="own" selected' in html
    assert 'name="from" value="2026-03-01"' in html
    assert 'name="to" value="2026-03-03"' in html


def test_another_period_takes_the_place_of_days_that_the_form_still_has(finn: Client) -> None:
    sent = {"window": "7d", "from": "2026-03-01", "to": "2026-03-03"}
    assert finn.get("/costs", sent)["Location"] == "/costs?window=7d"


def test_days_that_are_none_are_said_and_end_in_no_error(finn: Client) -> None:
    for first, last in (("2026-03-09", "2026-03-01"), ("soon", "never"), ("2026-02-30", "9" * 300)):
        answer = finn.get("/runs", {"window": "own", "from": first, "to": last}, follow=True)
        assert answer.status_code == 200
        assert "Shown instead: the last 30 days" in answer.content.decode()


def test_any_month_can_be_chosen_and_older_ones_asked_for(finn: Client) -> None:
    today = timezone.now().date()
    half_a_year_ago = (today.replace(day=1) - timedelta(days=170)).strftime("%Y-%m")
    assert f'<option value="{half_a_year_ago}"' in page_of(finn, "/costs")
    html = page_of(finn, "/costs", window="2021-05")
    assert 'name="from" value="2021-05-01"' in html
    assert 'name="to" value="2021-05-31"' in html


def test_several_teams_of_the_explorer_hold_on_pages_of_runs_and_services(finn: Client) -> None:
    for path in ("/runs", "/services"):
        html = page_of(finn, path, team="=Research,Platform")
        assert '<option value="=Research,Platform" selected' in html
        assert "There is no team" not in html


@pytest.mark.parametrize("path", ["/", "/costs", "/runs", "/services", "/api-spend"])
def test_a_name_with_a_comma_is_offered_as_the_filter_reads_it(finn: Client, path: str) -> None:
    make.make_team("Vision, 50 %")
    html = page_of(finn, path)
    (value,) = re.findall(r'<option value="([^"]*)"[^>]*>Vision, 50 %</option>', html)
    html = page_of(finn, path, team=f"{value},=Research")

    assert "There is no team" not in html
    assert re.findall(r'<option value="([^"]*)" selected>Vision, 50 %, =Research</option>', html)


def test_as_many_teams_are_carried_as_somebody_chose(finn: Client) -> None:
    names = [f"Team of the {number}th floor" for number in range(12)]
    for name in names:
        make.make_team(name)

    assert "There is no team" not in page_of(finn, "/services", team=",".join(names))


def test_links_of_a_page_of_costs_keep_what_it_does_not_use(finn: Client) -> None:
    html = page_of(finn, "/", window="2026-03-03", cost="direct")
    teams = re.findall(r'href="(/costs/teams/\d+\?[^"]*)"', html)

    assert teams
    assert all("cost=direct" in href and "window=2026-03-03" in href for href in teams)


@pytest.mark.parametrize("path", PAGES)
def test_links_that_narrow_by_themselves_go_on_with_the_period_and_the_basis(
    finn: Client, path: str
) -> None:
    chosen = {name: CHOSEN[name] for name in ("window", "basis")}
    main = page_of(finn, path, **chosen).partition("<main")[2]
    hrefs = re.findall(r'<a [^>]*href="(/[^"]*)"', re.sub(r"<a [^>]*\bdownload\b[^>]*>", "", main))

    left = [href for href in hrefs if onward(href, chosen) != href and "?" in href]
    assert left == []


def test_a_link_that_says_something_itself_is_narrowed_by_that_alone() -> None:
    chosen = {"window": "7d", "basis": "list", "team": "Research", "pool": "h100", "cost": "direct"}

    assert onward("/fleet?pool=a100#nodes", chosen) == "/fleet?pool=a100&window=7d&basis=list#nodes"
    assert onward("/costs?window=lastmonth", chosen) == "/costs?window=lastmonth&basis=list"
    assert onward("/prices/new?pool=5", chosen) == "/prices/new?pool=5"


def test_what_is_of_one_page_alone_is_left_there() -> None:
    query = QueryDict("window=7d&sort=-cost&tag.project=llm&state=active&team=&pool=a&pool=b")

    assert carried_texts(query) == {"window": "7d", "tag.project": "llm", "pool": "a,b"}
    assert with_custom_days(query, date(2026, 3, 3)) is None


@pytest.mark.parametrize("path", ["/prices/new", "/exports"])
def test_what_a_form_is_filled_in_with_goes_no_further(finn: Client, path: str) -> None:
    html = page_of(finn, path, pool="5", team="Research", window="2026-03-03/2026-03-04")

    assert "Kept for other pages" not in html
    assert not any(navigation(html))
