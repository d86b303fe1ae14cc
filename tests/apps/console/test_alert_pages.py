"""Alerts are listed, answered after a look, and sent to channels that finance and platform keep."""

import re
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth import get_user_model
from django.test import Client

from apps.accounts.queries import viewer_of_user
from apps.console.kit.waiting import forget_unread
from apps.console.pages.alerts import channels
from apps.review.models import Alert, AlertChannel, AlertMessage, MessageAttempt
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in, words_of
from tests.apps.review.test_alerts import opened, raised

pytestmark = pytest.mark.django_db
WEBHOOK = "http://127.0.0.1:9/T000/secret-of-the-hook"


@pytest.fixture(autouse=True)
def _world(settings: LazySettings) -> None:
    make.make_organisation()
    settings.WEBHOOK_NETWORKS = ("127.0.0.0/8",)


def posted(client: Client, path: str, entered: dict[str, str]) -> Any:
    """What comes of a long change: looked at by a POST, then confirmed."""
    looked = client.post(path, {**entered, "look": "yes"})
    seen = re.findall(r'name="seen" value="(\w+)"', looked.content.decode())
    assert seen, words_of(looked)
    return client.post(path, {**entered, "seen": seen[0]})


def channel(**given: str) -> dict[str, str]:
    return {
        "name": "Finance", "kind": "mail", "team": "", "address": "fin@example.org",
        "pace": "at_once", "quiet_from": "", "quiet_to": "",
    } | given  # fmt: skip


def test_an_alert_is_new_is_answered_after_a_look_and_leaves_the_list() -> None:
    team_id = make.make_team("Red")
    lee = signed_in("lead", team_id)
    alert_id = opened_of(team_id)
    raised(matter="of nobody below", title="The organisation’s")
    listed = words_of(lee.get("/alerts"))
    assert "GPUs has used 50 %" in listed
    assert "1 of them is new to you." in listed
    assert "The organisation’s" not in listed
    lee.post("/alerts/read")
    assert "new to you" not in words_of(lee.get("/alerts"))
    confirmed(lee, f"/alerts/{alert_id}/acknowledge", {"reason": "on it"})
    one = words_of(lee.get(f"/alerts/{alert_id}"))
    assert "Acknowledged by Lead since" in one
    assert "on it" in one
    confirmed(lee, f"/alerts/{alert_id}/mute", {"reason": "", "until": ""})
    confirmed(lee, f"/alerts/{alert_id}/resolve", {"reason": "paid"})
    assert "GPUs has used 50 %" not in words_of(lee.get("/alerts"))
    assert "GPUs has used 50 %" in words_of(lee.get("/alerts?state=resolved"))
    rows = csv_rows(lee.get(f"/alerts/{alert_id}.csv"))
    assert [(row["step"], row["who"]) for row in rows] == [
        ("opened", "Runrate"), ("acknowledged", "Lead"), ("muted", "Lead"), ("resolved", "Lead"),
    ]  # fmt: skip
    assert lee.get(f"/alerts/{Alert.objects.get(team=None).pk}").status_code == 404


def test_a_mute_until_a_moment_that_is_over_is_refused_at_the_look() -> None:
    alert_id = raised()
    page = signed_in("finance").get(
        f"/alerts/{alert_id}/mute", {"until": "2020-01-01T00:00", "reason": ""}
    )
    assert "This moment is over." in words_of(page)
    assert "Nothing more is sent of it" not in words_of(page)


def test_who_only_views_answers_nothing() -> None:
    team_id = make.make_team("Red")
    vera = signed_in("viewer", team_id)
    alert_id = opened_of(team_id)
    assert "Acknowledge" not in words_of(vera.get(f"/alerts/{alert_id}"))
    assert confirmed(vera, f"/alerts/{alert_id}/resolve", {"reason": ""}).status_code == 403
    assert Alert.objects.get().state == "open"


def test_a_mail_channel_is_looked_at_added_changed_tried_and_removed() -> None:
    finn = signed_in("finance")
    looked = words_of(
        finn.post("/alerts/channels/new", {**channel(quiet_from="20", quiet_to="7"), "look": "yes"})
    )
    assert (
        "Alerts of the organisation, and of teams below that have no channel of their own" in looked
    )
    assert "At once; from 20:00 to 07:00 only urgent ones" in looked
    posted(finn, "/alerts/channels/new", channel(quiet_from="20", quiet_to="7"))
    row = AlertChannel.objects.get()
    assert (row.address, row.quiet_from, row.quiet_to) == ("fin@example.org", 20, 7)
    posted(
        finn, f"/alerts/channels/{row.pk}/change", channel(name="Money", address="", pace="daily")
    )
    row.refresh_from_db()
    assert (row.name, row.address, row.pace, row.quiet_from) == (
        "Money",
        "fin@example.org",
        "daily",
        None,
    )
    confirmed(finn, f"/alerts/channels/{row.pk}/test", {})
    assert AlertMessage.objects.get().is_test
    assert "a test" in words_of(finn.get("/alerts/messages"))
    confirmed(finn, f"/alerts/channels/{row.pk}/remove", {})
    assert "Alerts are sent nowhere" in words_of(finn.get("/alerts/channels"))


def test_the_key_of_a_webhook_is_shown_once_and_its_address_never() -> None:
    finn = signed_in("finance")
    made = posted(
        finn, "/alerts/channels/new", channel(kind="webhook", address=WEBHOOK)
    ).content.decode()
    (key,) = set(re.findall(r"rrwh_[0-9a-f]{64}", made))
    row = AlertChannel.objects.get()
    for path in (
        "/alerts/channels",
        f"/alerts/channels/{row.pk}",
        f"/alerts/channels/{row.pk}/change",
    ):
        shown = finn.get(path).content.decode()
        assert key not in shown
        assert "secret-of-the-hook" not in shown
    assert "secret-of-the-hook" not in made
    renewed = confirmed(finn, f"/alerts/channels/{row.pk}/key", {}).content.decode()
    (other,) = set(re.findall(r"rrwh_[0-9a-f]{64}", renewed))
    assert other != key


def test_an_address_in_a_private_network_is_refused_at_its_field() -> None:
    finn = signed_in("finance")
    entered = channel(kind="slack", address="https://10.0.0.8/hook")
    answer = finn.post("/alerts/channels/new", {**entered, "look": "yes"})
    assert answer.status_code == 400
    assert "otherwise not public network" in words_of(answer)
    assert not AlertChannel.objects.exists()


def test_the_bell_of_every_page_says_how_many_are_new_and_leads_to_them() -> None:
    team_id = make.make_team("Red")
    lee, bell = (
        signed_in("lead", team_id),
        re.compile(r'<a class="button plain bell" href="(/alerts[^"]*)">(.*?)</a>'),
    )

    def shown(path: str) -> str:
        (found,) = bell.findall(lee.get(path).content.decode())
        assert lee.get(found[0]).status_code == 200
        return " ".join(re.sub(r"<[^>]+>", " ", found[1]).split())

    assert shown("/budgets") == "Alerts"
    opened_of(team_id)
    raised(matter="of nobody below", title="The organisation’s")
    forget_unread(viewer_of_user(get_user_model().objects.get(role="lead").pk))
    assert {shown(path) for path in ("/budgets", "/runs", "/findings")} == {"Alerts 1 new"}


def opened_of(team_id: int) -> int:
    alert_id = opened()
    Alert.objects.filter(pk=alert_id).update(team_id=team_id)
    return alert_id


def test_no_alert_is_left_out_of_its_list() -> None:
    """However many there are, the sentence counts them all and the file has them."""
    finn = signed_in("finance")
    first = Alert.objects.get(pk=opened())
    fields = {each.attname: getattr(first, each.attname) for each in Alert._meta.concrete_fields}
    fields.pop("id")
    Alert.objects.bulk_create(
        Alert(**fields | {"matter": f"matter {place}"}) for place in range(2_000)
    )

    listed = words_of(finn.get("/alerts"))

    assert "2,001 alerts wait for an answer" in listed
    assert "1–100 of 2,001 alerts" in listed
    assert len(csv_rows(finn.get("/alerts.csv"))) == 2_001


def test_a_list_of_messages_says_how_many_it_has_not_and_its_file_has_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(channels, "MOST_SHOWN", 2)
    finn = signed_in("finance")
    posted(finn, "/alerts/channels/new", channel())
    row = AlertChannel.objects.get()
    at = row.created_at
    for _ in range(3):
        message = AlertMessage.objects.create(channel=row, made_at=at, due_at=at, attempts=1)
        MessageAttempt.objects.create(
            message=message, at=at, milliseconds=1, is_sent=False, outcome="down"
        )

    every = words_of(finn.get("/alerts/messages"))
    own = words_of(finn.get(f"/alerts/channels/{row.pk}"))

    assert "3 messages could not be sent yet" in every
    for page, noun in ((every, "messages"), (own, "messages"), (own, "attempts")):
        assert f"the newest 2 of 3 {noun} are listed, CSV has all" in page
    for path in ("messages.csv", f"channels/{row.pk}.csv", f"channels/{row.pk}.csv?table=messages"):
        assert len(csv_rows(finn.get(f"/alerts/{path}"))) == 3
