"""The way from a team's sum down to the minutes behind one line, and who may go it."""

import html
import re

import pytest
from django.test import Client

from apps.accounts.models import Team, User
from apps.ledger.models import Line
from apps.workloads.models import Job, OwnershipRule, Workload
from bench.pages_ask import counted_statements
from tests import make
from tests.apps.console.people import csv_rows
from tests.apps.review.recommended import looked, proposal
from tests.browser.spending import Spending, lead, make_spending

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def spending(of_module: None) -> Spending:
    return make_spending()


@pytest.fixture
def finance(spending) -> Client:
    return signed_in("finn", "finance")


@pytest.fixture
def ada(spending) -> Client:
    """Leads Research."""
    client = signed_in("ada", "lead")
    Team.objects.filter(id=spending.research).update(owner=person("ada"))
    return client


@pytest.fixture
def dee(spending) -> Client:
    """Leads Vision."""
    client = signed_in("dee", "lead")
    lead(spending.vision, person("dee").id)
    return client


def person(name: str) -> User:
    return User.objects.get(email=f"{name}@example.org")


def signed_in(name: str, role: str) -> Client:
    make.make_person(f"{name}@example.org", name=name.title(), role=role)
    client = Client()
    client.force_login(person(name))
    return client


def text_of(answer) -> str:
    assert answer.status_code == 200, answer.status_code
    words = html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))
    return re.sub(r"\s+", " ", words.replace("\N{NO-BREAK SPACE}", " "))


def get(client: Client, path: str, **given: str) -> str:
    return text_of(client.get(path, {"window": "lastmonth", **given}))


def line_of(job_id: int, state: int) -> str:
    line = Line.objects.filter(job_id=job_id, state=state).get()
    return f"/costs/lines/{line.posting_month:%Y-%m}/{line.id}"


def follow(client: Client, page: str, words: str) -> str:
    """The page that the link with these words leads to."""
    found = re.search(rf'<a [^>]*href="([^"]+)"[^>]*>{words}</a>', page)
    assert found, words
    answer = client.get(html.unescape(found[1]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_teams_add_up_to_the_whole(finance):
    page = get(finance, "/costs")
    assert "Research cost the most" in page
    assert re.search(r"Research \$98\.32 .*50 % active \$49\.16 8\.00 \$12\.3", page)
    assert re.search(r"Vision \$49\.16 .*active unknown \$0\.00 4\.00", page)
    assert re.search(r"Total \$196\.64 .*25 % active \$98\.32 16\.0", page)


def test_every_figure_leads_down_to_the_minutes(finance, spending):
    page = finance.get("/costs", {"window": "lastmonth"}).content.decode()
    page = follow(finance, page, "Research")
    assert "Research cost $98.32 in" in page
    page = follow(finance, page, "Pretraining")
    assert "Pretraining cost $98.32 in" in page
    assert "50\N{NO-BREAK SPACE}% of it was active." in page
    page = follow(finance, page, "4711")
    assert "Job 4711 cost $98.32 in" in page
    page = text_of(finance.get(line_of(spending.job, 1)))
    assert "4.00 GPU-hours active, $49.16" in page
    assert "active 60 of 60 min observed" in page
    assert "$98.32 an hour per node" in page
    assert "The job’s ownership rule names it." in page
    assert "Priority 10: account research in force since ever, open-ended" in page
    assert "A whole GPU counts as 1" in page
    assert "settled for the first time" in page


def test_a_lines_rule_asks_for_its_cluster_too(finance, spending):
    rules = OwnershipRule.objects.filter(team_id=spending.research)
    rules.update(account="", cluster_id=Job.objects.get(id=spending.job).cluster_id)
    page = text_of(finance.get(line_of(spending.job, 1)))
    assert re.search(r"Priority 10: in cluster \S+ in force since ever", page)
    assert "every job" not in page


def test_what_no_job_held_leads_to_its_lines(finance, spending):
    page = get(finance, f"/costs/teams/{platform()}")
    assert re.search(r"Not held by a job \$49\.16", page)
    assert re.search(r"h100: unallocated \$49\.16", page)
    lines = get(finance, f"/costs/teams/{platform()}/no-job", pool="h100", state="unallocated")
    assert "Unallocated time of Platform on h100 cost $49.16" in lines
    assert lines.count("Estimated") >= 2


def platform() -> int:
    return Team.objects.get(kind="platform").id


def test_jobs_of_no_workload_are_a_page_of_their_own(finance, spending):
    page = get(finance, f"/costs/teams/{spending.vision}")
    assert re.search(r"No workload \$49\.16", page)
    assert "none of it is known to have been active, and 100 % was not observed." in page
    jobs = get(finance, f"/costs/teams/{spending.vision}/jobs")
    assert re.search(r"99 secret-vision, vic \$49\.16", jobs)


def test_filters_narrow_and_unknown_ones_are_said(finance):
    assert "Nothing was charged to anybody" in get(finance, "/costs", window="2020-01")
    page = get(finance, "/costs", pool="nowhere", cost="twice", sort="-shape")
    assert "Pool: there is no pool named 'nowhere'. Shown instead: all of them." in page
    assert "Cost: 'twice' is none of charged, direct, loaded. Shown instead: the cost as" in page
    assert "There is no column 'shape' to order by." in page


@pytest.mark.parametrize(
    "sort", ["name", "-cost", "bought", "-not_worked", "gpu_hours", "-unit_cost"]
)
def test_every_table_has_every_order(finance, spending, sort):
    for path in (f"/teams/{spending.research}", f"/workloads/{spending.workload}"):
        page = get(finance, f"/costs{path}", sort=sort)
        assert "$98.32" in page
        assert "There is no column" not in page


def test_every_table_is_there_as_csv(finance, spending):
    def rows(path: str) -> list[dict[str, str]]:
        answer = finance.get(path, {"window": "lastmonth"})
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        return csv_rows(answer)

    assert {row["team"]: row["cost"] for row in rows("/costs.csv")}["Research"] == "98.320000"
    (workload,) = rows(f"/costs/teams/{spending.research}.csv")
    assert (workload["workload"], workload["active"]) == ("Pretraining", "49.160000")
    (job,) = rows(f"/costs/workloads/{spending.workload}.csv")
    assert (job["job"], job["user"], job["cost"]) == ("4711", "ada", "98.320000")
    lines = rows(f"/costs/jobs/{spending.job}.csv")
    assert [line["cost"] for line in lines] == ["49.160000", "49.160000"]
    (loose,) = rows(f"/costs/teams/{spending.vision}/jobs.csv")
    assert loose["name"] == "secret-vision"
    assert len(rows(f"/costs/teams/{platform()}.csv")) == 1


def test_a_lead_sees_their_own_team_and_nothing_of_others(ada, spending):
    page = get(ada, "/costs")
    assert "Research cost $98.32 in" in page
    assert "Vision" not in page
    assert "196" not in page
    for path in (
        f"/costs/teams/{spending.vision}",
        f"/costs/teams/{spending.vision}.csv",
        f"/costs/teams/{spending.vision}/jobs",
        f"/costs/jobs/{spending.other_job}",
        f"/costs/jobs/{spending.other_job}.csv",
        f"/costs/teams/{platform()}/no-job",
    ):
        assert ada.get(path, {"window": "lastmonth"}).status_code == 404


def test_a_leads_overview_is_of_their_teams(ada):
    page = get(ada, "/")
    assert "Research cost $98.32 in" in page
    assert "Vision" not in page
    assert "196" not in page
    assert "there is no team named 'Vision'" in get(ada, "/", team="Vision")
    table = ada.get("/overview.csv", {"table": "by-team", "window": "lastmonth"}).content.decode()
    assert "Research" in table
    assert "Vision" not in table


def test_behind_a_leads_line_others_keep_only_time_and_state(ada, dee, spending):
    page = text_of(ada.get(line_of(spending.job, 1)))
    assert "another team" in page
    assert "not yours to see" in page
    assert "secret-vision" not in page
    assert "Vision" not in page
    assert "$98.32" not in page  # what the whole node-hour cost, and its rate
    assert dee.get(line_of(spending.job, 1)).status_code == 404
    assert dee.get(f"/costs/workloads/{spending.workload}").status_code == 404


def test_somebody_without_a_team_sees_that_there_is_nothing(spending):
    page = get(signed_in("cy", "viewer"), "/costs")
    assert "Nothing was charged to your teams" in page
    assert "Research" not in page


def test_a_deep_link_survives_sign_in(spending):
    answer = Client().get(f"/costs/jobs/{spending.job}", {"window": "lastmonth"})
    assert answer["Location"] == (f"/sign-in?next=/costs/jobs/{spending.job}%3Fwindow%3Dlastmonth")


def test_a_page_asks_at_most_fifteen_questions(finance, ada, spending):
    paths = [
        "/costs",
        f"/costs/teams/{spending.research}",
        f"/costs/teams/{spending.research}/outlook",
        f"/costs/teams/{spending.research}/jobs",
        f"/costs/teams/{spending.research}/no-job",
        f"/costs/workloads/{spending.workload}",
        f"/costs/jobs/{spending.job}",
        line_of(spending.job, 1),
    ]
    for client in (finance, ada):
        for path in paths:
            client.get(path, {"window": "lastmonth"})
            with counted_statements() as asked:
                assert client.get(path, {"window": "lastmonth"}).status_code == 200
            assert 0 < asked() <= 15, path


@pytest.mark.parametrize("path", ["/costs/teams/{team}", "/costs", "/"])
@pytest.mark.parametrize("given", [{"tag.proyect": "llm"}, {"tag": "proyect=llm"}, {"tag": "llm"}])
def test_a_tag_that_is_none_is_said_and_not_passed_over(finance, spending, path, given) -> None:
    page = get(finance, path.format(team=spending.research), **given)
    assert "there is no such tag, but" in page


def test_a_page_that_no_tag_narrows_says_so(finance, spending) -> None:
    assert "this page is not narrowed by tags" in get(finance, "/", **{"tag.project": "llm"})


def test_a_workloads_costs_say_what_is_to_be_done_about_it(finance, ada, dee, spending) -> None:
    page = get(finance, f"/costs/workloads/{spending.workload}")
    assert "What to do about it" in page
    assert "Nothing is open or claimed of it." in page
    known = Workload.objects.get(pk=spending.workload)
    looked(proposal("a", team_id=known.team_id, workload_id=known.pk))
    for client in (finance, ada):
        page = get(client, f"/costs/workloads/{spending.workload}")
        assert "1 recommendation of this work alone" in page
        assert "Stop a" in page
    address = f"/costs/workloads/{spending.workload}.csv?table=recommended"
    assert [row["matter"] for row in csv_rows(ada.get(address))] == ["zombie:a"]
    assert dee.get(address).status_code == 404
