"""People sign in with a password, a second factor, or a link that lets them choose a password."""

import re
from datetime import timedelta

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.accounts import actions
from apps.accounts.models import User
from tests.make import make_organisation, make_person

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _as_first_thing_today() -> None:
    cache.clear()
    make_organisation()


def sign_in(client: Client, email: str = "ada@example.org", password: str = PASSWORD, **more):
    return client.post("/sign-in", {"login": email, "password": password, **more})


def test_a_person_signs_in_and_comes_to_the_page_they_asked_for(client) -> None:
    make_person()
    asked = client.get("/setup?pool=1")
    assert asked["Location"] == "/sign-in?next=/setup%3Fpool%3D1"
    form = client.get(asked["Location"])
    assert 'name="next" type="hidden" value="/setup?pool=1"' in form.content.decode()
    assert sign_in(client, next="/setup?pool=1")["Location"] == "/setup?pool=1"


def test_an_address_is_the_same_in_capitals(client) -> None:
    make_person()
    assert sign_in(client, "ADA@Example.org").status_code == 302


def test_nobody_is_sent_to_another_site(client) -> None:
    make_person()
    assert sign_in(client, next="https://elsewhere.example/")["Location"] == "/home"


@pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
def test_a_wrong_password_and_an_unknown_address_are_answered_alike(client, email) -> None:
    make_person()
    refused = sign_in(client, email, "wrong")
    assert refused.status_code == 200
    assert "do not go together" in refused.content.decode()
    assert "_auth_user_id" not in client.session


def test_five_wrong_passwords_lock_the_address_for_the_right_one_too(client) -> None:
    make_person()
    for _ in range(5):
        sign_in(client, password="wrong")
    refused = sign_in(client)
    assert "Too many attempts failed" in refused.content.decode()
    assert "_auth_user_id" not in client.session


def test_who_knows_an_address_cannot_keep_its_owner_out(client) -> None:
    make_person()
    stranger = Client(REMOTE_ADDR="203.0.113.9")
    for _ in range(6):
        sign_in(stranger, password="wrong")
    assert "Too many attempts failed" in sign_in(stranger).content.decode()
    assert sign_in(client).status_code == 302


def test_a_lock_ends_by_itself(client, monkeypatch) -> None:
    make_person()
    for _ in range(6):
        sign_in(client, password="wrong")
    import time

    later = time.time() + 301
    monkeypatch.setattr("allauth.core.internal.ratelimit.time.time", lambda: later)
    assert sign_in(client).status_code == 302


def test_nobody_adds_themselves(client) -> None:
    for path in ("/signup", "/accounts/signup/", "/sign-up", "/account/signup/"):
        assert client.get(path).status_code == 404


def test_signing_out_ends_the_session(client) -> None:
    make_person()
    sign_in(client)
    client.post("/sign-out")
    assert "_auth_user_id" not in client.session


def test_somebody_deactivated_is_out_at_once_and_stays_out(client) -> None:
    make_person()
    ben = make_person("ben@example.org", role="finance")
    sign_in(client, "ben@example.org")
    assert client.get("/").status_code == 200
    actions.deactivate_person(person_id=ben)
    assert client.get("/")["Location"].startswith("/sign-in")
    assert "do not go together" in sign_in(client, "ben@example.org").content.decode()


def secret_on(page: str) -> str:
    found = re.search(r"<code>([A-Z2-7]{16,})</code>", page)
    assert found
    return found[1]


def code_of(secret: str, steps_ahead: int = 0) -> str:
    counter = totp.yield_hotp_counters_from_time().__next__() + steps_ahead
    return totp.format_hotp_value(totp.hotp_value(secret, counter))


@pytest.fixture
def guarded(client) -> str:
    """Ada asks for a second factor; its secret."""
    make_person()
    sign_in(client)
    assert client.get("/account/app")["Location"].startswith("/sign-in/again")
    client.post("/sign-in/again", {"password": PASSWORD, "next": "/account/app"})
    secret = secret_on(client.get("/account/app").content.decode())
    answer = client.post("/account/app", {"code": code_of(secret)})
    assert answer["Location"] == "/account/codes"
    return secret


def test_a_second_factor_is_asked_for_and_the_page_asked_for_is_not_forgotten(guarded) -> None:
    client = Client()
    assert sign_in(client, next="/setup")["Location"].startswith("/sign-in/second-factor")
    assert "_auth_user_id" not in client.session
    assert client.get("/")["Location"].startswith("/sign-in")
    wrong = client.post("/sign-in/second-factor", {"code": "000000"})
    assert "Incorrect code" in wrong.content.decode()
    cache.clear()
    right = client.post("/sign-in/second-factor", {"code": code_of(guarded, steps_ahead=0)})
    assert right["Location"] == "/setup"
    assert "_auth_user_id" in client.session


def test_a_recovery_code_works_once(client, guarded) -> None:
    page = client.get("/account/codes").content.decode()
    code = re.findall(r"<li><code>([^<]+)</code>", page)[0]
    first, second = Client(), Client()
    sign_in(first)
    assert first.post("/sign-in/second-factor", {"code": code}).status_code == 302
    sign_in(second)
    assert second.post("/sign-in/second-factor", {"code": code}).status_code == 200


def test_a_second_factor_is_kept_sealed(guarded) -> None:
    (ada,) = User.objects.all()
    assert guarded not in str([each.data for each in ada.authenticator_set.all()])


def test_the_pages_of_an_account_are_drawn(client, guarded) -> None:
    for path in ("/account", "/account/codes", "/account/codes.txt", "/account/password"):
        assert client.get(path).status_code == 200
    assert client.get("/account/app/remove").status_code == 200
    assert client.get("/account/codes/new").status_code == 200


def test_changing_a_password_needs_the_old_one(client) -> None:
    make_person()
    sign_in(client)
    new = {"password1": "battery staple horse", "password2": "battery staple horse"}
    wrong = client.post("/account/password", {"oldpassword": "wrong", **new})
    assert wrong.status_code == 200
    client.post("/account/password", {"oldpassword": PASSWORD, **new})
    assert User.objects.get().check_password("battery staple horse")


@pytest.mark.parametrize(
    "path", ["/account", "/account/app", "/account/codes", "/account/password"]
)
def test_an_account_is_shown_to_its_person_only(client, path) -> None:
    assert client.get(path)["Location"].startswith("/sign-in")


def invited(**given) -> actions.Invited:
    person = actions.NewPerson(email="Ben@Example.org", name="Ben", **given)
    return actions.invite_person(person=person, invited_by_id=None, at=timezone.now())


def test_an_invited_person_chooses_a_password_once_and_signs_in(client) -> None:
    link = f"/invitation/{invited().secret}"
    page = client.get(link).content.decode()
    assert "ben@example.org" in page
    chosen = {"password": PASSWORD, "again": PASSWORD}
    assert client.post(link, chosen)["Location"] == "/sign-in"
    assert sign_in(client, "ben@example.org").status_code == 302
    assert client.get(link).status_code == 410
    assert client.post(link, chosen).status_code == 410


def test_a_weak_or_mistyped_password_leaves_the_link_good(client) -> None:
    link = f"/invitation/{invited().secret}"
    weak = client.post(link, {"password": "password", "again": "password"})
    assert "too common" in weak.content.decode()
    mistyped = client.post(link, {"password": PASSWORD, "again": "another"}).content.decode()
    assert "not the same" in mistyped
    assert 'aria-describedby="invitation-again-about"' in mistyped
    assert PASSWORD not in mistyped
    spaced = client.post(link, {"password": f" {PASSWORD}", "again": PASSWORD})
    assert "not the same" in spaced.content.decode()
    assert client.get(link).status_code == 200


def test_a_link_ends_after_seven_days_and_with_the_next_one() -> None:
    first = invited()
    late = first.expires_at + timedelta(seconds=1)
    with pytest.raises(actions.LinkUnknown):
        actions.accept_invitation(secret=first.secret, password=PASSWORD, at=late)
    now = timezone.now()
    second = actions.invite_again(person_id=first.person_id, invited_by_id=None, at=now)
    with pytest.raises(actions.LinkUnknown):
        actions.accept_invitation(secret=first.secret, password=PASSWORD, at=now)
    actions.accept_invitation(secret=second.secret, password=PASSWORD, at=now)


def test_inviting_again_ends_what_was_lost(client, guarded) -> None:
    ada = User.objects.get()
    again = actions.invite_again(person_id=ada.id, invited_by_id=None, at=timezone.now())
    assert client.get("/account")["Location"].startswith("/sign-in")
    assert "do not go together" in sign_in(client).content.decode()
    actions.accept_invitation(secret=again.secret, password=PASSWORD, at=timezone.now())
    assert sign_in(Client())["Location"] == "/home"


def test_no_secret_of_a_link_is_kept_or_printed(client) -> None:
    made = invited()
    assert made.secret not in repr(made)
    (kept,) = User.objects.get().invitations.values_list("digest", flat=True)
    assert made.secret.encode() not in bytes(kept)


def test_a_command_prints_a_link_and_a_new_one_for_a_lost_password(client, capsys) -> None:
    call_command("invite_person", "ben@example.org", name="Ben", origin="https://gpu.example.org")
    first = re.search(r"https://gpu\.example\.org(/invitation/[\w-]+)", capsys.readouterr().out)
    assert first
    call_command("invite_person", "Ben@example.org", again=True)
    assert client.get(first[1]).status_code == 410
    with pytest.raises(CommandError, match="nobody signs in as eve"):
        call_command("invite_person", "eve@example.org", again=True)
    with pytest.raises(CommandError, match=r"can sign in as .* already"):
        call_command("invite_person", "ben@example.org", name="Ben")
    with pytest.raises(CommandError, match="no team named 'Vision'"):
        call_command("invite_person", "eve@example.org", name="Eve", team=["Vision"])


def test_ended_sessions_are_forgotten_and_others_kept(client) -> None:
    make_person()
    sign_in(client)
    assert actions.forget_ended_sessions(at=timezone.now()) == 0
    assert actions.forget_ended_sessions(at=timezone.now() + timedelta(days=15)) == 1
