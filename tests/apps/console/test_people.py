"""Who can sign in, machines' tokens and who changed what: for finance and platform only."""

import csv
import io
import re

import pytest
from django.test import Client

from apps.accounts import actions
from apps.accounts.models import AccessToken, Team, User
from tests.apps.console.people import confirmed, csv_rows
from tests.make import NOON, make_organisation, make_person, make_team, make_token

pytestmark = pytest.mark.django_db
PAGES = ["/people", "/people.csv", "/people/tokens", "/people/tokens.csv", "/people/audit"]
PAGES += ["/people/audit.csv", "/people?x=1"]


@pytest.fixture
def people() -> dict[str, int]:
    """Ada of the platform, Finn of finance, Ben a member, Cy a stranger, Dee who leads Search."""
    make_organisation()
    ids = {
        "ada": make_person(),
        "finn": make_person("finn@example.org", name="Finn", role="finance"),
        "ben": make_person("ben@example.org", name="Ben", role="viewer"),
        "cy": make_person("cy@example.org", name="Cy", role="viewer"),
        "dee": make_person("dee@example.org", name="Dee", role="lead"),
    }
    research = make_team("Research")
    make_team("Search", owner_id=ids["dee"])
    actions.place_in_teams(person_id=ids["ben"], team_ids=[research])
    return ids


def signed_in(person_id: int) -> Client:
    client = Client()
    client.force_login(User.objects.get(pk=person_id))
    return client


def text_of(answer) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


@pytest.mark.parametrize("who", ["ben", "cy", "dee"])
@pytest.mark.parametrize("path", PAGES)
def test_others_see_none_of_it(people, who, path) -> None:
    answer = signed_in(people[who]).get(path)
    assert answer.status_code == 403
    assert "finn@example.org" not in answer.content.decode()


@pytest.mark.parametrize("who", ["ben", "cy", "dee"])
def test_others_change_none_of_it(people, who) -> None:
    client, ben = signed_in(people[who]), people["ben"]
    for path in ("link", "role", "teams", "deactivate"):
        assert client.post(f"/people/{ben}/{path}", {"role": "platform"}).status_code == 403
    new = {"email": "eve@example.org", "name": "Eve", "role": "platform"}
    assert client.post("/people/invite", new).status_code == 403
    token = {"name": "x", "scope": "manage"}
    assert client.post("/people/tokens/make", token).status_code == 403
    assert not User.objects.filter(email="eve@example.org").exists()
    assert User.objects.get(pk=ben).role == "viewer"


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_is_asked_to_sign_in(people, path) -> None:
    assert Client().get(path)["Location"].startswith("/sign-in?next=/people")


def test_the_list_says_who_may_see_what(people, django_assert_max_num_queries) -> None:
    client = signed_in(people["finn"])
    with django_assert_max_num_queries(15):
        page = text_of(client.get("/people"))
    assert "5 people can sign in." in page
    assert "Ben ben@example.org viewer Research no never" in page
    rows = csv_rows(client.get("/people.csv"))
    assert [row["teams"] for row in rows if row["name"] == "Dee"] == ["Search"]


def test_inviting_shows_a_link_once_that_lets_them_in(people) -> None:
    client = signed_in(people["finn"])
    new = {"email": "eve@example.org", "name": "Eve", "role": "lead"}
    page = client.post("/people/invite", new).content.decode()
    link = re.search(r"http://testserver(/invitation/[\w-]+)", page)
    assert link
    assert link[1] not in client.get("/people").content.decode()
    assert Client().get(link[1]).status_code == 200
    assert User.objects.get(email="eve@example.org").role == "lead"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"email": "ben@example.org"}, "can sign in as ben@example.org already"),
        ({"email": "nonsense"}, "is not an address"),
        ({"name": " "}, "needs a name"),
        ({"role": "emperor"}, "Choose one of the list."),
        ({"team": "999999"}, "Tick some of the list."),
    ],
)
def test_an_invitation_that_cannot_be_says_why_and_changes_nothing(people, given, says) -> None:
    new = {"email": "eve@example.org", "name": "Eve", "role": "lead"} | given
    answer = signed_in(people["ada"]).post("/people/invite", new)
    assert answer.status_code == 400
    assert says in text_of(answer)
    assert not User.objects.filter(email="eve@example.org").exists()


def test_finance_cannot_become_platform(people) -> None:
    client, ada = signed_in(people["finn"]), people["ada"]
    assert "platform:" not in client.get("/people").content.decode()
    new = {"email": "eve@example.org", "name": "Eve", "role": "platform"}
    assert client.post("/people/invite", new).status_code == 400
    own = f"/people/{people['finn']}/role"
    assert confirmed(client, own, {"role": "platform"}).status_code == 400
    for path in ("link", "deactivate", "teams"):
        assert confirmed(client, f"/people/{ada}/{path}", {}).status_code == 400
    assert confirmed(client, f"/people/{ada}/role", {"role": "viewer"}).status_code == 400
    assert "/invitation/" not in confirmed(client, f"/people/{ada}/link", {}).content.decode()
    assert client.post("/people/tokens/make", {"name": "x", "scope": "manage"}).status_code == 403


def test_roles_and_teams_change_and_the_page_says_so(people) -> None:
    client, ben = signed_in(people["ada"]), people["ben"]
    looked = text_of(client.get(f"/people/{ben}/role", {"role": "lead"}))
    assert "Ben sees the teams they own or belong to, and all below." in looked
    answer = confirmed(client, f"/people/{ben}/role", {"role": "lead"}, follow=True)
    assert "Ben is lead: sees the teams they own or belong to, and all below." in text_of(answer)
    assert "Ben leaves Research." in text_of(client.get(f"/people/{ben}/teams", {"look": "yes"}))
    confirmed(client, f"/people/{ben}/teams", {"look": "yes"})
    assert not User.objects.get(pk=ben).memberships.exists()


def test_the_teams_of_a_person_are_ticked_so_that_saving_keeps_them(people) -> None:
    client, ben = signed_in(people["ada"]), people["ben"]
    page = client.get(f"/people/{ben}").content.decode()
    ticked = re.findall(r'name="team" type="checkbox" value="(\d+)" checked', page)
    assert [int(team) for team in ticked] == [Team.objects.get(name="Research").pk]
    confirmed(client, f"/people/{ben}/teams", {"team": ticked})
    assert User.objects.get(pk=ben).memberships.count() == 1


def test_the_last_of_the_platform_stays(people) -> None:
    client, ada = signed_in(people["ada"]), people["ada"]
    refused = confirmed(client, f"/people/{ada}/deactivate", {})
    assert "nobody could let people in" in text_of(refused)
    assert confirmed(client, f"/people/{ada}/role", {"role": "viewer"}).status_code == 400
    assert User.objects.get(pk=ada).is_active


def test_ending_access_names_the_tokens_that_stay_good(people) -> None:
    make_token(name="airflow", made_by_id=people["ben"])
    client = signed_in(people["ada"])
    path = f"/people/{people['ben']}/deactivate"
    looked = text_of(client.get(path))
    assert "They made airflow" in looked
    assert "stay good until someone revokes them" in looked
    assert client.post(path).status_code == 409
    answer = confirmed(client, path, {}, follow=True)
    assert "Ben can no longer sign in." in text_of(answer)
    assert "airflow" in text_of(answer)


def test_nobody_has_a_page_who_is_not_there(people) -> None:
    client = signed_in(people["ada"])
    assert client.get("/people/999999").status_code == 404
    assert client.post("/people/999999/role", {"role": "lead"}).status_code == 404
    assert client.post("/people/tokens/999999/revoke").status_code == 404


def test_a_token_is_shown_once_and_revoked(people) -> None:
    client = signed_in(people["ada"])
    team = make_team("Vision")
    given = {"name": "airflow", "scope": ["read", "jobs"], "team": str(team), "days": "30"}
    page = client.post("/people/tokens/make", given).content.decode()
    secret = re.search(r"rr_[\w-]{43}", page)
    assert secret
    token = AccessToken.objects.get()
    assert (token.team_id, token.made_by_id) == (team, people["ada"])
    assert (token.expires_at - token.created_at).days == 30
    listed = client.get("/people/tokens").content.decode()
    assert secret[0] not in listed
    assert "airflow" in listed
    path = f"/people/tokens/{token.id}/revoke"
    assert "What sends or asks as airflow" in text_of(client.get(path))
    assert "The token is revoked" in text_of(confirmed(client, path, {}, follow=True))
    assert "was revoked at" in text_of(confirmed(client, path, {}, follow=True))


def test_a_token_that_is_used_while_somebody_reads_on_is_revoked(people) -> None:
    client = signed_in(people["ada"])
    client.post("/people/tokens/make", {"name": "airflow", "scope": ["read"], "days": ""})
    token = AccessToken.objects.get()
    path = f"/people/tokens/{token.id}/revoke"
    (seen,) = re.findall(r'name="seen" value="(\w+)"', client.get(path).content.decode())
    AccessToken.objects.update(last_used_at=NOON)
    assert client.post(path, {"seen": seen}).status_code == 302
    assert AccessToken.objects.get().revoked_at is not None


@pytest.mark.parametrize(
    "given", [{"name": ""}, {"scope": []}, {"days": "0"}, {"days": "x"}, {"team": "999999999"}]
)
def test_a_token_that_cannot_be_is_not_made(people, given) -> None:
    new = {"name": "airflow", "scope": ["read"], "days": "", "team": ""} | given
    assert signed_in(people["ada"]).post("/people/tokens/make", new).status_code == 400
    assert not AccessToken.objects.exists()


def test_the_trail_tells_who_changed_what_and_is_kept_as_csv(
    people, django_assert_max_num_queries
) -> None:
    client = signed_in(people["ada"])
    confirmed(client, f"/people/{people['ben']}/role", {"role": "lead"})
    with django_assert_max_num_queries(15):
        page = text_of(client.get("/people/audit?kind=person"))
    assert "Ada changed the person Ben last." in page
    assert "role: viewer → lead" in page
    rows = list(
        csv.reader(io.StringIO(client.get("/people/audit.csv?kind=person").content.decode()))
    )
    assert rows[1][1:] == ["Ada", "changed", "person", "Ben", "role", "viewer", "lead"]


def test_the_trail_goes_on_where_a_page_ends(people) -> None:
    for number in range(101):
        make_token(name=f"token {number}")
    client = signed_in(people["ada"])
    older = re.search(
        r'href="(/people/audit\?[^"]+)">Older', client.get("/people/audit").content.decode()
    )
    assert older
    assert client.get(older[1].replace("&amp;", "&")).status_code == 200


def test_an_address_with_nonsense_in_it_is_answered(people) -> None:
    client = signed_in(people["ada"])
    assert client.get("/people/audit?kind=nonsense&before=never").status_code == 200
    assert NOON


def test_long_lists_come_in_parts_in_the_order_asked_for(people) -> None:
    for number in range(120):
        make_token(name=f"agent of gpu-{number:03}")
    client = signed_in(people["ada"])
    page = text_of(client.get("/people/tokens?sort=-name"))
    assert page.index("agent of gpu-119") < page.index("agent of gpu-020")
    assert "agent of gpu-019" not in page
    assert "1–100 of 120 tokens" in page
    second = client.get("/people/tokens?sort=-name&page=2").content.decode()
    assert "agent of gpu-019" in second
    assert '<a rel="prev" href="/people/tokens?sort=-name#list">Previous</a>' in second
    assert 'aria-sort="descending"' in client.get("/people?sort=-role").content.decode()


def test_a_token_that_only_writes_is_not_said_to_read(people) -> None:
    make_token("ingest", name="agent")
    make_token("read", name="script")
    page = text_of(signed_in(people["ada"]).get("/people/tokens"))
    assert re.search(r"agent rr_\S+ ingest nothing", page)
    assert re.search(r"script rr_\S+ read whole organisation", page)


def test_teams_of_people_lead_to_their_costs_and_their_tokens_are_a_sheet(people) -> None:
    make_token(name="a script", made_by_id=people["ada"])
    client = signed_in(people["ada"])
    page = client.get("/people").content.decode()
    research = Team.objects.get(name="Research").id
    assert f'<a href="/costs/teams/{research}">Research</a>' in page
    sheet = f"/people/{people['ada']}.csv?table=made-tokens"
    assert sheet in client.get(f"/people/{people['ada']}").content.decode()
    header, row = client.get(sheet).content.decode().splitlines()
    assert header == "name,prefix,scopes,created_at,last_used_at,revoked_at"
    assert row.startswith("a script,rr_")
    assert client.get("/people/999.csv?table=made-tokens").status_code == 404
