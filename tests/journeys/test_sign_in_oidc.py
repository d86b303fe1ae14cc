"""People sign in through a provider that speaks OpenID Connect; its groups say what they may see."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
import requests
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.test import Client

from apps.accounts import actions
from apps.accounts.models import Membership, User
from tests.make import make_organisation, make_person, make_team

pytestmark = pytest.mark.django_db

PEOPLE = {
    "ada": {"email": "ada@example.org", "name": "Ada", "groups": ["gpu-platform"]},
    "ben": {"email": "ben@example.org", "name": "Ben", "groups": ["ml"]},
    "cy": {"email": "cy@example.org", "name": "Cy", "groups": ["kitchen"]},
    "dee": {"email": "dee@example.org", "name": "Dee", "groups": ["ml-leads", "ml"]},
    "eve": {"email": "ada@example.org", "name": "Eve", "email_verified": False, "groups": []},
}
GRANTS = (
    ("gpu-platform", "platform", ""),
    ("ml-leads", "lead", "Vision"),
    ("ml", "viewer", "Research"),
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """A provider in a process of its own, on loopback."""
    port = free_port()
    claims = [{"sub": sub, "email_verified": True, **given} for sub, given in PEOPLE.items()]
    arguments = [f"--user-claims={json.dumps(each)}" for each in claims]
    provider = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *arguments],
        stderr=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}"
    try:
        wait_for(f"{address}/.well-known/openid-configuration")
        yield address
    finally:
        provider.terminate()
        provider.wait(10)


def wait_for(url: str) -> None:
    for _ in range(200):
        try:
            requests.get(url, timeout=1)
        except requests.ConnectionError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"{url} never answered")


@pytest.fixture(autouse=True)
def _configured(settings, issuer) -> None:
    cache.clear()
    make_organisation()
    make_team("Vision", parent_id=make_team("Research"))
    settings.OIDC_NAME = "Example SSO"
    settings.OIDC_GROUPS = GRANTS
    app = {"provider_id": "provider", "name": "Example SSO", "client_id": "runrate"}
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [app | {"secret": "hush", "settings": {"server_url": issuer}}],
        }
    }


def sign_in(who: str, client: Client | None = None, page: str = "/setup"):
    """Runrate's answer to somebody who comes back from the provider as `who`."""
    client = client or Client()
    asked = client.get(f"/sign-in/with/provider?next={page}")
    assert asked.status_code == 302
    granted = requests.post(asked["Location"], {"sub": who}, allow_redirects=False, timeout=10)
    assert granted.status_code == 302
    return client.get(granted.headers["Location"].removeprefix("http://testserver"))


def teams_of(email: str) -> set[str]:
    return set(Membership.objects.filter(user__email=email).values_list("team__name", flat=True))


def test_the_page_of_sign_in_leads_to_the_provider() -> None:
    page = Client().get("/sign-in?next=/setup").content.decode()
    assert 'href="/sign-in/with/provider?next=/setup"' in page
    assert "Sign in with Example SSO" in page


def test_a_first_sign_in_makes_the_person_with_the_role_of_their_group() -> None:
    client = Client()
    assert sign_in("ada", client)["Location"] == "/setup"
    ada = User.objects.get()
    assert (ada.email, ada.name, ada.role) == ("ada@example.org", "Ada", "platform")
    assert not ada.has_usable_password()
    assert client.get("/setup").status_code == 200


def test_the_first_grant_that_fits_gives_the_role_and_each_its_team() -> None:
    sign_in("dee")
    assert User.objects.get().role == "lead"
    assert teams_of("dee@example.org") == {"Vision", "Research"}


def test_each_sign_in_brings_role_and_teams_up_to_date_and_leaves_other_teams(settings) -> None:
    sign_in("dee")
    by_hand = make_team("Robots")
    Membership.objects.create(user=User.objects.get(), team_id=by_hand)
    settings.OIDC_GROUPS = (("nobody", "lead", "Vision"), ("ml", "viewer", "Research"))
    sign_in("dee")
    assert User.objects.get().role == "viewer"
    assert teams_of("dee@example.org") == {"Research", "Robots"}


def test_somebody_of_no_listed_group_sees_nothing() -> None:
    sign_in("cy")
    assert User.objects.get().role == "viewer"
    assert teams_of("cy@example.org") == set()


def test_somebody_of_no_listed_group_is_refused_where_the_settings_say_so(settings) -> None:
    settings.OIDC_REQUIRE_GROUP = True
    refused = sign_in("cy")
    assert refused.status_code == 403
    assert "None of your groups" in refused.content.decode()
    assert not User.objects.exists()


def test_somebody_invited_before_is_the_same_person_with_a_verified_address() -> None:
    invited = make_person("ben@example.org", name="Ben", role="finance")
    sign_in("ben")
    assert [user.id for user in User.objects.all()] == [invited]
    assert User.objects.get().role == "viewer"


def test_nobody_becomes_somebody_by_an_address_that_is_not_verified() -> None:
    make_person("ada@example.org")
    client = Client()
    refused = sign_in("eve", client)
    assert refused.status_code == 403
    assert "vouch" in refused.content.decode()
    assert not SocialAccount.objects.exists()
    assert "_auth_user_id" not in client.session


def test_somebody_deactivated_here_stays_out() -> None:
    make_person("boss@example.org")
    sign_in("ben")
    actions.deactivate_person(person_id=User.objects.get(email="ben@example.org").id)
    client = Client()
    assert "was ended" in sign_in("ben", client).content.decode()
    assert "_auth_user_id" not in client.session


def test_an_answer_that_was_not_asked_for_is_refused() -> None:
    client = Client()
    answer = client.get("/sign-in/with/provider/answer?code=stolen&state=made-up")
    assert "not good" in answer.content.decode()
    assert "_auth_user_id" not in client.session


def test_no_second_identity_is_tied_to_a_session() -> None:
    client = Client()
    sign_in("ada", client)
    asked = client.get("/sign-in/with/provider?process=connect")
    granted = requests.post(asked["Location"], {"sub": "ben"}, allow_redirects=False, timeout=10)
    refused = client.get(granted.headers["Location"].removeprefix("http://testserver"))
    assert refused.status_code == 403
    assert SocialAccount.objects.count() == 1


def test_a_provider_that_nobody_set_up_is_not_there() -> None:
    assert Client().get("/sign-in/with/another").status_code == 404


def test_a_second_factor_is_asked_for_after_the_provider_too() -> None:
    sign_in("ada")
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    TOTP.activate(User.objects.get(), generate_totp_secret())
    client = Client()
    assert sign_in("ada", client)["Location"].startswith("/sign-in/second-factor")
    assert "_auth_user_id" not in client.session
