"""Tokens: 256 random bits, shown once, kept as a hash, good for what they say and no longer."""

import logging
from datetime import datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory, force_authenticate
from rest_framework.views import APIView

from apps.accounts import actions, queries
from apps.accounts.authentication import (
    AuthenticationRefused,
    BearerToken,
    needs,
    token_from_header,
)
from apps.accounts.models import AccessToken, User
from tests.make import NOON, make_person, make_team, make_token

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def answer(permission: type[BasePermission], *, header: str | None = None, user: int | None = None):
    """What a view with this permission answers to this caller."""

    class View(APIView):
        permission_classes = (permission,)
        authentication_classes = (BearerToken,)

        def get(self, request):
            return Response({"name": request.user.name})

    headers = {"Authorization": header} if header else {}
    request = APIRequestFactory().get("/", headers=headers)
    if user is not None:
        force_authenticate(request, user=User.objects.get(pk=user))
    return View.as_view()(request).render()


def test_a_secret_has_256_bits_and_a_prefix_that_scanners_know() -> None:
    secrets = {make_token().secret for _ in range(20)}
    assert len(secrets) == 20
    assert all(secret.startswith("rr_") and len(secret) == 46 for secret in secrets)


def test_only_the_hash_of_a_secret_is_kept() -> None:
    secret = make_token().secret
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(t)::text, digest FROM accounts_accesstoken t")
        ((row, digest),) = cursor.fetchall()
    assert secret not in row
    assert secret[3:] not in row
    assert bytes(digest) == queries.digest_of(secret)


def test_a_secret_is_never_logged_or_printed(caplog) -> None:
    with caplog.at_level(logging.DEBUG), CaptureQueriesContext(connection) as statements:
        token = make_token()
        token_from_header(f"Bearer {token.secret}", NOON)
    assert token.secret not in repr(token)
    assert token.secret not in caplog.text
    assert not [each for each in statements.captured_queries if token.secret in each["sql"]]


def test_a_token_is_found_by_its_secret_and_says_what_it_may_do() -> None:
    made = make_token("ingest", "jobs", name="agent of gpu-01")
    fact = queries.token_of(made.secret, NOON)
    assert fact is not None
    assert (fact.id, fact.name, fact.scopes) == (made.id, "agent of gpu-01", {"ingest", "jobs"})
    assert queries.token_of(made.secret + "x", NOON) is None


def test_a_token_ends_at_its_expiry() -> None:
    secret = make_token(expires_at=NOON + MINUTE).secret
    assert queries.token_of(secret, NOON + MINUTE - timedelta(seconds=1)) is not None
    assert queries.token_of(secret, NOON + MINUTE) is None


def test_a_revoked_token_is_no_token_and_stays_so() -> None:
    token = make_token()
    actions.revoke_token(token_id=token.id, at=NOON)
    assert queries.token_of(token.secret, NOON) is None
    with pytest.raises(actions.TokenAlreadyRevoked, match="12:00"):
        actions.revoke_token(token_id=token.id, at=NOON + MINUTE)


def test_a_token_needs_a_scope_that_exists_and_a_future() -> None:
    with pytest.raises(actions.ScopeUnknown, match="everything"):
        make_token("everything")
    with pytest.raises(actions.ScopeUnknown, match="nothing"):
        actions.make_token(name="n", scopes=[], expires_at=None, at=NOON)
    with pytest.raises(actions.TokenExpiresInThePast):
        make_token(expires_at=NOON)


def test_use_is_noted_at_most_once_a_minute() -> None:
    token = make_token()
    for seconds in (0, 59, 60, 61):
        actions.touch_token(token_id=token.id, at=NOON + timedelta(seconds=seconds))
    assert AccessToken.objects.get(pk=token.id).last_used_at == NOON + MINUTE


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer  ", "Basic abc", "Bearer rr_none"])
def test_a_header_without_a_good_token_is_refused(header) -> None:
    with pytest.raises(AuthenticationRefused):
        token_from_header(header, NOON)


def test_a_token_passes_only_where_its_scope_is_needed() -> None:
    header = f"Bearer {make_token('jobs', name='slurm').secret}"
    assert answer(needs("jobs"), header=header).data == {"name": "slurm"}
    refused = answer(needs("ingest"), header=header)
    assert refused.status_code == 403
    assert "ingest" in refused.data["detail"]


@pytest.mark.parametrize("header", ["Bearer rr_none", "Bearer", "bearer\tx"])
def test_a_bad_token_is_401_with_how_to_come_in(header) -> None:
    refused = answer(needs("jobs"), header=header)
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"] == "Bearer"
    assert refused["Content-Type"] == "application/problem+json"


def test_no_token_at_all_is_401() -> None:
    refused = answer(needs("read"))
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("role", "passes"),
    [
        ("finance", {"read"}),
        ("platform", {"read", "manage"}),
        ("lead", set()),
        ("viewer", set()),
    ],
)
def test_a_person_may_do_what_their_role_says(role, passes) -> None:
    person = make_person(role=role)
    may = {
        scope
        for scope in ("read", "manage", "ingest", "jobs")
        if answer(needs(scope), user=person).status_code == 200
    }
    assert may == passes


@pytest.mark.parametrize("scope", ["read", "manage"])
def test_a_teams_token_does_not_pass_for_the_organisations(scope) -> None:
    secret = make_token(scope, team_id=make_team()).secret
    assert answer(needs(scope), header=f"Bearer {secret}").status_code == 403


def test_a_command_makes_a_token_of_a_team(capsys) -> None:
    team = make_team("Vision")
    call_command("make_token", "airflow", scope=["read"], team="Vision")
    fact = queries.token_of(capsys.readouterr().out.strip(), NOON)
    assert fact is not None
    assert fact.team_id == team
    with pytest.raises(CommandError, match="no team named 'Atlantis'"):
        call_command("make_token", "airflow", scope=["read"], team="Atlantis")


def test_calling_with_a_token_notes_its_use() -> None:
    token = make_token("read")
    answer(needs("read"), header=f"Bearer {token.secret}")
    assert AccessToken.objects.get(pk=token.id).last_used_at is not None


@pytest.mark.parametrize("revoked_at", [None, NOON + MINUTE, NOON + 3 * MINUTE])
@pytest.mark.parametrize("expires_at", [None, NOON + MINUTE, NOON + 2 * MINUTE, NOON + 3 * MINUTE])
def test_every_way_to_ask_for_a_token_calls_the_same_ones_good(
    revoked_at: datetime | None, expires_at: datetime | None
) -> None:
    made, asked = make_token(), NOON + 2 * MINUTE
    AccessToken.objects.filter(pk=made.id).update(expires_at=expires_at, revoked_at=revoked_at)
    (listed,) = queries.tokens()
    is_good = listed.is_good(asked)
    assert is_good == (revoked_at is None and expires_at in {None, NOON + 3 * MINUTE})
    assert (queries.token_of(made.secret, asked) is not None) == is_good
    assert (queries.token_in_force(made.id, asked) is not None) == is_good
    assert (made.id in queries.tokens_in_force([made.id], asked)) == is_good
    assert (queries.digest_of(made.secret) in queries.tokens_with_scope("ingest", asked)) == is_good
    assert (queries.good_tokens(asked)[""] == 1) == is_good
