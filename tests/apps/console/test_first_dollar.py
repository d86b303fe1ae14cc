"""From an empty installation to a dollar that has an owner, by forms of the browser alone."""

import html
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts import actions
from apps.accounts.models import Team, User
from apps.accounts.queries import first_person_secret, organisation
from apps.fleet.models import Pool
from apps.workloads.queries import unknown_nodes
from apps.workloads.tasks import import_uploads
from controlplane.first_person import first_person_words
from tests import make
from tests.apps.console.people import confirmed, words_of
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
ACCOUNTING = Path(__file__).resolve().parents[2] / "journeys" / "accounting.psv"
FIRST = {"name": "Ada", "email": "ada@example.org", "password": "correct horse battery"}


@pytest.fixture
def client(settings, tmp_path) -> Client:
    """A browser at an installation that was just started."""
    cache.clear()
    settings.HOME = tmp_path
    actions.bootstrap_with_defaults(at=datetime.now(UTC))
    return Client()


def came_in(client: Client) -> Client:
    """Ada, who opened the address that was printed."""
    address = f"/invitation/first/{first_person_secret()}"
    answer = client.post(address, {**FIRST, "again": FIRST["password"]})
    assert answer["Location"] == "/sign-in?next=/setup/first-day"
    client.force_login(User.objects.get(email=FIRST["email"]))
    return client


def test_the_first_person_comes_in_once(client):
    assert "an address that lets the first person in" in words_of(client.get("/sign-in"))
    address = f"/invitation/first/{first_person_secret()}"
    assert client.get(address).status_code == 200
    assert client.get(f"{address[:-1]}x").status_code == 410
    for wrong, said in (
        ({"again": "other"}, "The two are not the same."),
        ({"password": "12345678", "again": "12345678"}, "too common"),
        ({"email": "nonsense"}, "is not an address"),
        ({"name": " "}, "person needs a name"),
    ):
        answer = client.post(address, {**FIRST, "again": FIRST["password"]} | wrong)
        assert (answer.status_code, User.objects.count()) == (400, 0)
        assert said in words_of(answer)
        kept = {**FIRST, **wrong}["email"]
        assert f'name="email" type="email" value="{kept}"' in answer.content.decode()
    came_in(client)
    assert (first_person_secret(), User.objects.get().role) == (None, "platform")
    assert Client().get(address).status_code == 410
    with pytest.raises(actions.LinkUnknown):
        actions.add_first_person(**FIRST, at=datetime.now(UTC))


@pytest.mark.parametrize(
    ("listen", "origins", "begins"),
    [
        ("127.0.0.1:8000", [], "http://127.0.0.1:8000"),
        ("0.0.0.0:8001", [], "http://127.0.0.1:8001"),
        ("[::]:8000", [], "http://127.0.0.1:8000"),
        (":::8000", [], "http://127.0.0.1:8000"),
        ("[::1]:8000", [], "http://[::1]:8000"),
        ("gpu.lan:80", [], "http://gpu.lan:80"),
        ("0.0.0.0:8000", ["https://gpu.example.org/"], "https://gpu.example.org"),
    ],
)
def test_the_address_of_the_first_person_can_be_opened(listen, origins, begins):
    said = first_person_words("abc", listen, origins)
    assert f" {begins}/invitation/first/abc\n" in said


def test_a_command_prints_where_the_first_person_comes_in(client, capsys):
    call_command("first_person", origin="https://gpu.example.org")
    (path,) = re.findall(r"https://gpu\.example\.org(/\S+)", capsys.readouterr().out)
    assert client.get(path).status_code == 200
    came_in(client)
    with pytest.raises(CommandError, match="came in already"):
        call_command("first_person")


def test_the_organisation_is_chosen_once(client):
    ada = came_in(client)
    asked = {"name": "Labs", "currency": "EUR", "zone": "Europe/Berlin", "week_starts_on": "7"}
    looked = words_of(ada.get("/setup/organisation", asked))
    assert "Days and months begin at midnight of Europe/Berlin, weeks on Sunday." in looked
    assert confirmed(ada, "/setup/organisation", asked)["Location"] == "/setup/first-day"
    assert (organisation().currency, organisation().week_starts_on) == ("EUR", 7)
    assert "They are kept for good." in words_of(ada.get("/setup/organisation"))


def test_a_currency_that_prices_rest_on_is_not_replaced_by_a_form_looked_at_before(client):
    ada = came_in(client)
    asked = {"name": "Labs", "currency": "EUR", "zone": "Europe/Berlin", "week_starts_on": "7"}
    looked = ada.get("/setup/organisation", asked).content.decode()
    (seen,) = re.findall(r'name="seen" value="(\w+)"', looked)
    scene.make_rate(make.make_pool("main"))
    late = ada.post("/setup/organisation", asked | {"seen": seen})
    assert (late.status_code, organisation().currency) == (409, "USD")
    assert "They are kept for good." in words_of(late)


def test_the_guide_asks_for_no_currency_that_prices_rest_on(client):
    ada = came_in(client)
    assert "/setup/organisation" in ada.get("/setup/first-day").content.decode()
    scene.make_rate(make.make_pool("main"))
    assert "/setup/organisation" not in ada.get("/setup/first-day").content.decode()


def test_every_zone_that_is_offered_is_one_that_postgres_knows(client):
    page = came_in(client).get("/setup/organisation").content.decode()
    offered = set(re.findall(r'<option value="(\w+[^"]*)"', page.partition('name="zone"')[2]))
    assert {"UTC", "Europe/Berlin"} <= offered
    assert not {"localtime", "Factory"} & offered


def test_teams_are_added_and_booked(client):
    ada = came_in(client)
    new = {"name": "Research", "parent": "", "cost_centre": "CC-1"}
    assert ada.post("/people/teams/add", new)["Location"] == "/people/teams"
    assert "there is a team named 'Research'" in words_of(
        ada.post("/people/teams/add", new)
    ).replace("There is", "there is")
    team = Team.objects.get(name="Research")
    path = f"/people/teams/{team.id}/book"
    assert "Research goes from CC-1 to CC-2." in words_of(ada.get(path, {"cost_centre": "CC-2"}))
    confirmed(ada, path, {"cost_centre": "CC-2"})
    assert "Research,,CC-2" in ada.get("/people/teams.csv").content.decode()


def test_an_accounting_file_becomes_a_dollar_that_has_an_owner(client):
    ada = came_in(client)
    file = SimpleUploadedFile("accounting.psv", ACCOUNTING.read_bytes())
    path = ada.post("/setup/imports/upload", {"file": file})["Location"]
    import_uploads()
    ada.post(f"{path}/start")
    import_uploads()
    assert "6 jobs came from accounting.psv." in words_of(ada.get(path))

    (link,) = {
        each
        for each in re.findall(r'href="(/fleet/pools/new\?[^"]+)"', page(ada))
        if "h100" in each
    }
    form = ada.get(html.unescape(link)).content.decode()
    told = dict(re.findall(r'name="(cluster|gpus_per_node|gpu_model)"[^>]*value="([^"]*)"', form))
    pool = {"name": "main", "new_cluster": "", "unit": "gpu", "purchase_option": "owned", "owner": "",
            "provider": "own", "region": "", "instance_type": "", "back_to": "setup",
            "cluster": str(unknown_nodes()[0].cluster_id)}  # fmt: skip
    assert confirmed(ada, "/fleet/pools/new", pool | told)["Location"] == "/setup"
    pool_id = Pool.objects.get(name="main").id
    price = {"pool": pool_id, "amount": "2", "unit": "gpu", "quantity_seconds": "3600",
             "kind": "contract", "currency": "USD", "starts_at": "", "back_to": "first-day"}  # fmt: skip
    assert confirmed(ada, "/prices/new", price)["Location"] == "/setup/first-day"
    names = [f"{each.cluster_id}/{each.node_name}" for each in unknown_nodes() if each.gpus]
    nodes = {"node": names, "pool": pool_id, "from": "2025-03-03", "until": "2025-03-05"}
    assert "From 3 March 2025 to 5 March 2025 they cost $1,536" in words_of(
        ada.get("/setup/nodes/name", nodes)
    )
    confirmed(ada, "/setup/nodes/name", nodes)
    ada.post("/people/teams/add", {"name": "Research", "parent": "", "cost_centre": "CC-1"})
    team_id = Team.objects.get(name="Research").id
    rule = {"owner": team_id, "account": "vision", "priority": "100", "from": "", "to": ""}
    asked = rule | {"back_to": "first-day"}
    assert confirmed(ada, "/ownership/rules/new", asked)["Location"] == "/setup/first-day"
    assert "hours of its time wait to be settled" in words_of(ada.get(path))
    march = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 3, 8, tzinfo=UTC)
    scene.settle(datetime.now(UTC), starts_at=march[0], ends_at=march[1])

    assert "Every hour of its time in which a known node was in service is settled." in words_of(
        ada.get(path)
    )
    overview = words_of(ada.get("/?window=2025-03-03/2025-03-05"))
    assert "$1,536" in overview
    assert "Research" in overview
    assert "The first day is done" in words_of(ada.get("/setup/first-day"))


def page(client: Client) -> str:
    return client.get("/setup").content.decode()
