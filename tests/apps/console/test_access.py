"""Who gets in, and what others see instead."""

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client

from tests import make
from tests.apps.console.people import client_of
from tests.browser.fleet import make_people

pytestmark = pytest.mark.django_db
PAGES = ("/", "/overview.csv?table=by-team", "/overview.csv?table=by-day", "/setup")


@pytest.fixture(autouse=True)
def _people() -> None:
    cache.clear()
    make.make_organisation()
    make_people()


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_signs_in_first_and_comes_back(path):
    answer = Client().get(path, {"window": "today"})
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in?next=")
    assert "window%3Dtoday" in answer["Location"]


def test_who_is_in_no_team_sees_nothing_of_the_whole():
    answer = client_of("vera").get("/")
    assert b"You are in no team yet" in answer.content
    assert client_of("vera").get("/setup").status_code == 403


@pytest.mark.parametrize("name", ["finn", "petra"])
@pytest.mark.parametrize("path", PAGES)
def test_finance_and_platform_see_every_page(name, path):
    assert client_of(name).get(path).status_code == 200


def test_only_the_platform_confirms_devices():
    node_id = make.make_node("gpu-01")
    path = f"/fleet/nodes/{node_id}/devices/confirm"
    assert client_of("finn").post(path).status_code == 403
    assert client_of("vera").post(path).status_code == 403
    assert Client().post(path)["Location"].startswith("/sign-in")
    assert client_of("petra").get(path).status_code == 200


def test_a_form_without_its_token_is_refused():
    node_id = make.make_node("gpu-01")
    client = Client(enforce_csrf_checks=True)
    client.force_login(get_user_model().objects.get(email="petra@example.org"))
    assert client.post(f"/fleet/nodes/{node_id}/devices/confirm").status_code == 403


def test_signing_out_is_a_post():
    client = client_of("finn")
    assert client.get("/sign-out").status_code == 405
    assert client.post("/sign-out")["Location"] == "/sign-in"
    assert client.get("/").status_code == 302


def test_pages_are_not_kept_by_the_browser():
    assert "no-store" in client_of("finn").get("/")["Cache-Control"]


def test_a_part_of_a_page_asked_for_after_the_session_ended_sends_the_browser_to_sign_in():
    answer = Client().get("/", headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert answer["HX-Redirect"].startswith("/sign-in?next=")


def test_where_nobody_can_sign_in_the_page_says_how():
    how = b"What Runrate printed as it started has an address that lets the first person in"
    assert how not in Client().get("/sign-in").content
    get_user_model().objects.all().delete()
    assert how in Client().get("/sign-in").content
