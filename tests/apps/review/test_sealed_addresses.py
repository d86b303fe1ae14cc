"""Addresses of webhooks are kept sealed: the database alone has none, and no page, line or file shows one."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test import override_settings

from apps.review import actions
from apps.review.models import AlertChannel, AlertMessage, MessageAttempt
from apps.review.queries.channels import opened_address
from apps.web.outgoing import PostOutcome
from controlplane.copies.installation import secrets_to_keep, settings_to_keep
from controlplane.env import environment
from tests import make

SECRET = "https://hooks.example.org/services/T0/B0/verysecretpath"
NOW = make.NOON


@pytest.fixture(autouse=True)
def resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the far end is of the internet."""
    monkeypatch.setattr(
        "apps.web.outgoing._resolved", lambda target: [(0, 0, 0, "", ("93.184.215.14", 443))]
    )


def a_channel(kind: str = "slack", address: str = SECRET) -> int:
    channel = actions.EnteredAlertChannel(f"{kind} channel", kind, None, address=address)
    return actions.add_channel(channel=channel, at=NOW).id


def send(at: Any = NOW) -> list[str]:
    """What the far end was sent to, of every message that is due."""
    went: list[str] = []

    def sender(message: Any, _: Any) -> PostOutcome:
        went.append(message.address)
        return PostOutcome(True, "answered 200", 1)

    actions.send_due_messages(sender=sender, clock=lambda: at)
    return went


def everything_in_the_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(row.*::text, ' ') FROM review_alertchannel AS row")
        channels = cursor.fetchone()[0]
        cursor.execute("SELECT string_agg(row.*::text, ' ') FROM review_alertchannelevent AS row")
        return f"{channels} {cursor.fetchone()[0]}"


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["slack", "webhook"])
def test_the_database_has_no_address_and_messages_go_there(kind: str) -> None:
    make.make_organisation()
    channel_id = a_channel(kind)
    assert "verysecretpath" not in everything_in_the_database()
    actions.try_channel(channel_id=channel_id, at=NOW)
    assert send() == [SECRET]
    changed = actions.EnteredAlertChannel(
        "other", kind, None, address=SECRET.replace("very", "most")
    )
    actions.replace_channel(channel_id=channel_id, channel=changed)
    assert "mostsecretpath" not in everything_in_the_database()
    actions.try_channel(channel_id=channel_id, at=NOW)
    assert send() == [SECRET.replace("very", "most")]


@pytest.mark.django_db
def test_two_of_one_address_are_kept_unlike_and_mail_as_it_is() -> None:
    make.make_organisation()
    a_channel("slack")
    a_channel("webhook")
    a_channel("mail", "fin@example.org")
    kept = dict(AlertChannel.objects.values_list("kind", "address"))
    assert kept["slack"] != kept["webhook"]
    assert kept["mail"] == "fin@example.org"


@pytest.mark.django_db
def test_the_database_takes_no_webhook_that_is_not_sealed() -> None:
    make.make_organisation()
    channel_id = a_channel()
    with pytest.raises(IntegrityError, match="channel_webhook_sealed"), transaction.atomic():
        AlertChannel.objects.filter(pk=channel_id).update(address=SECRET)


@pytest.mark.django_db
def test_with_another_key_an_attempt_says_what_to_do_and_the_old_key_mends_it() -> None:
    make.make_organisation()
    with override_settings(SECRET_KEY="the key of before"):
        channel_id = a_channel()
    actions.try_channel(channel_id=channel_id, at=NOW)
    assert send() == []
    said = MessageAttempt.objects.get().outcome
    assert "RUNRATE_OLD_SECRET_KEYS" in said
    assert "verysecretpath" not in said
    with override_settings(SECRET_KEY_FALLBACKS=["the key of before"]):
        actions.try_channel(channel_id=channel_id, at=NOW)
        assert send() == [SECRET]
        out = StringIO()
        call_command("reseal_secrets", stdout=out)
        assert "webhook addresses: 1 sealed with the present key" in out.getvalue()
    # The old key may go now.
    assert opened_address(AlertChannel.objects.get().address) == SECRET


@pytest.mark.django_db
def test_resealing_says_what_no_key_opens() -> None:
    make.make_organisation()
    with override_settings(SECRET_KEY="a key that is lost"):
        a_channel()
    with pytest.raises(CommandError, match="1 webhook addresses"):
        call_command("reseal_secrets", stdout=StringIO())


def test_keys_of_before_are_in_the_secrets_of_a_copy_and_nowhere_else() -> None:
    chosen = environment({"RUNRATE_OLD_SECRET_KEYS": "one,two"})
    assert secrets_to_keep(chosen, "three") == {
        "RUNRATE_OLD_SECRET_KEYS": "one,two", "RUNRATE_SECRET_KEY": "three",
    }  # fmt: skip
    assert "RUNRATE_OLD_SECRET_KEYS" not in settings_to_keep(chosen)


@pytest.fixture
def before_sealing() -> Iterator[None]:
    """The tables as they were before addresses were sealed; as they are now at the end."""
    MigrationExecutor(connection).migrate([("review", "0001_squashed_0012_verdicts_of_findings")])
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes("review"))


@pytest.mark.django_db(transaction=True)
def test_addresses_of_before_are_sealed_by_the_migration(before_sealing: None) -> None:
    with connection.cursor() as cursor:
        for kind, address in (("slack", SECRET), ("mail", "fin@example.org"), ("webhook", "")):
            cursor.execute(
                "INSERT INTO review_alertchannel (name, kind, address, shown_address, key_salt, pace, gets_reviews, "
                "failures, paused_reason, created_at) VALUES (%s, %s, %s, '', '', 'at_once', false, 0, '', now())",
                [kind, kind, address],
            )
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes("review"))
    kept = dict(AlertChannel.objects.values_list("kind", "address"))
    assert kept["slack"].startswith("sealed:")
    assert {kind: opened_address(address) for kind, address in kept.items()} == {
        "slack": SECRET, "mail": "fin@example.org", "webhook": "",
    }  # fmt: skip
    assert AlertMessage.objects.count() == 0
