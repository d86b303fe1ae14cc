"""The surface as it stands in production: checks, cookies, headers; nothing secret in what is told."""

import json
import logging
import os
import subprocess
import sys

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import path

from tests.journeys.installations import ROOT, bare_environment
from tests.make import make_organisation, make_person, make_token

PASSWORD = "correct horse battery"
PRODUCTION = {
    "RUNRATE_HTTPS": "yes",
    "RUNRATE_ALLOWED_HOSTS": "runrate.example.org",
    "RUNRATE_TRUSTED_ORIGINS": "https://runrate.example.org",
}
TELL = """
import json
from django.conf import settings
from django.core.management import call_command
from django.test import Client
import django
django.setup()
call_command("check", deploy=True, fail_level="INFO")
client = Client(headers={"host": "runrate.example.org"})
plain = client.get("/healthz")
there = client.get("/sign-in")
form = client.get("/sign-in/second-factor", secure=True, headers={"x-forwarded-proto": "https"})
print(json.dumps({
    "hsts": form.headers.get("Strict-Transport-Security"),
    "redirect": there.headers.get("Location"),
    "health": plain.status_code,
    "session": [settings.SESSION_COOKIE_SECURE, settings.SESSION_COOKIE_HTTPONLY,
                settings.SESSION_COOKIE_SAMESITE],
    "csrf": [settings.CSRF_COOKIE_SECURE, settings.CSRF_COOKIE_SAMESITE],
}))
"""


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What a process of ours says of itself under the settings that docs/guides/production.md asks for."""
    home = tmp_path_factory.mktemp("production")
    secret = home / "secret_key"
    secret.write_text("k" * 20 + "0123456789abcdefghijklmnopqrstuvwxyz")
    return subprocess.run(
        [sys.executable, "-c", TELL],
        cwd=ROOT,
        env=bare_environment(home)
        | PRODUCTION
        | {
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "RUNRATE_SECRET_KEY_FILE": str(secret),
            "RUNRATE_DATABASE_URL": os.environ["RUNRATE_DATABASE_URL"],
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_djangos_own_checks_find_nothing_under_the_documented_settings(production) -> None:
    assert production.returncode == 0, production.stderr
    assert "no issues" in production.stdout


def test_behind_a_proxy_everything_is_https(production) -> None:
    assert production.returncode == 0, production.stderr
    told = json.loads(production.stdout.splitlines()[-1])
    assert told["hsts"] == "max-age=31536000; includeSubDomains; preload"
    assert told["redirect"] == "https://runrate.example.org/sign-in"
    assert told["session"] == [True, True, "Lax"]
    assert told["csrf"] == [True, "Lax"]


@pytest.mark.django_db
def test_the_cookies_of_a_session_are_out_of_reach_of_scripts_and_other_sites(client) -> None:
    make_organisation()
    make_person()
    cache.clear()
    answer = client.post("/sign-in", {"login": "ada@example.org", "password": PASSWORD})
    cookie = answer.cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert Session.objects.exists()


@pytest.mark.django_db
def test_a_form_of_another_site_changes_nothing() -> None:
    make_organisation()
    client = Client(enforce_csrf_checks=True)
    for address in ("/sign-in", "/people/invite", "/people/tokens/make", "/setup"):
        assert client.post(address, {"login": "x"}).status_code in {403, 405}


@pytest.mark.django_db
def test_every_page_of_sign_in_carries_the_policy(client) -> None:
    make_organisation()
    for address in ("/sign-in", "/sign-in/inactive", "/invitation/nonsense", "/sign-in/cancelled"):
        answer = client.get(address)
        policy = answer["Content-Security-Policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["Referrer-Policy"] == "same-origin"
        assert "<script>" not in answer.content.decode()


@pytest.mark.django_db
def test_no_password_token_or_link_is_logged(client, caplog) -> None:
    make_organisation()
    make_person()
    cache.clear()
    secret = make_token("read").secret
    with caplog.at_level(logging.DEBUG):
        client.post("/sign-in", {"login": "ada@example.org", "password": PASSWORD})
        Client().post("/sign-in", {"login": "ada@example.org", "password": "wrong-and-secret"})
        client.get("/api/v1/costs", headers={"Authorization": f"Bearer {secret}"})
        client.get("/api/v1/costs", headers={"Authorization": f"Bearer {secret}x"})
    for told in (PASSWORD, "wrong-and-secret", secret):
        assert told not in caplog.text


def fails(request, secret):
    password = request.POST["password"]
    raise RuntimeError(f"a bug after {len(password)} letters")


urlpatterns = [path("bug/<str:secret>", fails)]


@pytest.mark.urls(__name__)
def test_an_error_page_tells_nothing_of_what_was_sent(client, caplog, settings) -> None:
    client.raise_request_exception = False
    answer = client.post("/bug/x", {"password": PASSWORD}, headers={"Authorization": "Bearer rr_y"})
    assert answer.status_code == 500
    assert not settings.DEBUG
    for told in (PASSWORD, "rr_y", "RuntimeError"):
        assert told not in answer.content.decode()
    assert PASSWORD not in caplog.text
    assert "rr_y" not in caplog.text


@pytest.mark.django_db
def test_a_body_too_large_is_refused(client, settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    answer = client.post("/sign-in", {"login": "x" * 2000, "password": "y"})
    assert answer.status_code in {400, 413}
