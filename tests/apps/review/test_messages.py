"""Alerts go to the channels of their owner, together, at the hour that was asked for, until they are taken."""

import hashlib
import hmac
import http.server
import json
import re
import socket
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, transaction

from apps.accounts import actions as accounts
from apps.accounts.queries import viewer_of_user
from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.actions.messages import MOST_SENT, due_moment
from apps.review.models import AlertChannel, AlertMessage, MessageAttempt
from apps.review.providers.sending import send_message
from apps.review.queries.channels import channel, channels, messages
from apps.review.queries.message_parts import MessageText
from apps.review.queries.message_text import OutgoingMessage, message_text
from apps.web.outgoing import PostOutcome
from tests import make
from tests.apps.review.mailbox import Mailbox
from tests.apps.review.test_alerts import opened, raised
from tests.apps.review.test_outgoing import served

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _world(settings: LazySettings) -> None:
    make.make_organisation()
    settings.WEBHOOK_NETWORKS = ("127.0.0.0/8",)
    settings.SITE_URL = "https://runrate.example.org"


def added(name: str = "finance", **given: Any) -> actions.IssuedChannel:
    values = {"kind": "mail", "team_id": None, "address": "fin@example.org"}
    return actions.add_channel(
        channel=actions.EnteredAlertChannel(name=name, **values | given), at=AT
    )


class Sending:
    """A far end that takes what it gets, or does not."""

    def __init__(self, *, is_up: bool = True) -> None:
        self.is_up, self.got = is_up, list[OutgoingMessage]()

    def __call__(self, message: OutgoingMessage, at: datetime) -> PostOutcome:
        """Take it."""
        self.got.append(message)
        return PostOutcome(
            is_sent=self.is_up, said="took it" if self.is_up else "down", milliseconds=3
        )

    def sweep(self, at: datetime = AT) -> int:
        """One pass of the worker."""
        actions.route_alerts(at=at)
        return actions.send_due_messages(sender=self, clock=lambda: at)


def test_an_alert_goes_to_its_team_else_to_the_nearest_above_else_to_the_organisation() -> None:
    research = make.make_team("Research")
    below = make.make_team("Evaluation", parent_id=research)
    blue = make.make_team("Blue")
    ids = {
        "organisation": added("organisation").id,
        "research": added("research", team_id=research).id,
    }
    for matter, team_id in (("a", research), ("b", below), ("c", blue), ("d", None)):
        raised(matter=matter, title=matter, team_id=team_id)
    far = Sending()
    assert far.sweep() == 2, "one message for each channel, however many alerts"
    said = {message.channel_id: len(message.entry_ids) for message in AlertMessage.objects.all()}
    assert said == {ids["research"]: 2, ids["organisation"]: 2}
    assert far.sweep(AT + MINUTE) == 0, "nothing is sent twice"


def test_what_a_day_has_is_one_message_and_urgent_alerts_do_not_wait(settings: Any) -> None:
    added(pace="daily")
    far = Sending()
    for hour, matter in enumerate("abc"):
        raised(matter=matter)
        assert far.sweep(AT + timedelta(hours=hour)) == 0
    assert far.sweep(datetime(2026, 3, 11, 8, tzinfo=UTC)) == 1
    assert far.got[0].text.subject == "3 alerts"
    raised(100, matter="d")
    assert far.sweep(datetime(2026, 3, 11, 9, tzinfo=UTC)) == 1


def test_what_a_paused_channel_keeps_does_not_stand_before_what_others_have() -> None:
    stuck, fine = added("stuck").id, added("fine").id
    AlertChannel.objects.filter(pk=stuck).update(paused_at=AT, paused_reason="down")
    AlertMessage.objects.bulk_create(
        AlertMessage(channel_id=stuck, made_at=AT, due_at=AT, attempts=1) for _ in range(MOST_SENT)
    )
    AlertMessage.objects.create(channel_id=fine, made_at=AT, due_at=AT + MINUTE)
    far = Sending()
    assert far.sweep(AT + MINUTE) == 1


def test_a_message_that_ends_with_an_error_is_an_attempt_and_those_after_it_are_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, fine = added("broken").id, added("fine").id
    for place, channel_id in enumerate((broken, fine)):
        AlertMessage.objects.create(channel_id=channel_id, made_at=AT, due_at=AT + place * MINUTE)
    seen: list[int] = []

    def sender(message: OutgoingMessage, at: datetime) -> PostOutcome:
        seen.append(message.id)
        if len(seen) == 1:
            raise ValueError("https://hooks.example.org/secret")
        return PostOutcome(is_sent=True, said="took it", milliseconds=3)

    at = AT + MINUTE
    assert actions.send_due_messages(sender=sender, clock=lambda: at) == 1
    (waiting,) = messages(broken, 9)
    assert (waiting.state, waiting.attempts, waiting.due_at) == ("waiting", 1, at + MINUTE)
    assert waiting.outcome == "it ended with ValueError"
    assert messages(fine, 9)[0].state == "sent"
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


def test_a_channel_keeps_its_address_without_asking_for_its_host_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with served(204) as (address, _):
        channel_id = added(kind="webhook", address=address).id
    before = AlertChannel.objects.get(pk=channel_id)

    def away(*_: Any, **__: Any) -> None:
        raise socket.gaierror("DNS is away")

    monkeypatch.setattr(socket, "getaddrinfo", away)
    daily = actions.EnteredAlertChannel("finance", "webhook", None, address="", pace="daily")
    actions.replace_channel(channel_id=channel_id, channel=daily)
    after = AlertChannel.objects.get(pk=channel_id)
    assert (after.pace, after.address) == ("daily", before.address)
    assert after.shown_address == before.shown_address
    moved = replace(daily, address="https://hooks.example.org/x")
    with pytest.raises(Refusal):
        actions.replace_channel(channel_id=channel_id, channel=moved)


@pytest.mark.parametrize(
    ("pace", "quiet", "at", "due"),
    [
        ("at_once", (None, None), "2026-03-10T10:00", "2026-03-10T10:00"),
        ("at_once", (20, 7), "2026-03-10T10:00", "2026-03-10T10:00"),
        ("at_once", (20, 7), "2026-03-10T19:30", "2026-03-11T06:00"),
        ("at_once", (20, 7), "2026-03-11T02:00", "2026-03-11T06:00"),
        ("at_once", (9, 12), "2026-03-10T09:30", "2026-03-10T11:00"),
        ("daily", (None, None), "2026-03-10T10:00", "2026-03-11T07:00"),
        ("daily", (7, 12), "2026-03-10T10:00", "2026-03-11T11:00"),
        ("at_once", (1, 3), "2026-03-29T00:30", "2026-03-29T01:00"),
    ],
)
def test_when_a_step_goes_out_is_by_the_clock_of_the_organisation(
    pace: str, quiet: tuple[int | None, int | None], at: str, due: str
) -> None:
    row = AlertChannel(pace=pace, quiet_from=quiet[0], quiet_to=quiet[1])
    moment = datetime.fromisoformat(f"{at}+00:00")
    found = due_moment(row, moment, "Europe/Berlin", is_urgent=False)
    assert found == datetime.fromisoformat(f"{due}+00:00")
    assert due_moment(row, moment, "Europe/Berlin", is_urgent=True) == moment


def test_what_fails_is_tried_again_ever_later_then_its_channel_is_paused_until_resumed() -> None:
    channel_id = added().id
    opened()
    far, at, tried = Sending(is_up=False), AT, []
    far.sweep(at)
    for _ in range(7):
        (waiting,) = messages(channel_id, 9)
        tried.append(waiting.due_at - at)
        assert far.sweep(waiting.due_at - timedelta(seconds=1)) == 0
        at = waiting.due_at
        far.sweep(at)
    assert tried == [MINUTE * 2**place for place in range(7)]
    assert len(far.got) == 8
    fact = channel(channel_id)
    assert (fact.paused_at, fact.failures) == (at, 8)
    assert fact.paused_reason == "8 attempts failed, the last: down"
    far.is_up = True
    assert far.sweep(at + timedelta(days=1)) == 0
    actions.resume_channel(channel_id=channel_id, at=at)
    assert far.sweep(at + MINUTE) == 1
    assert [each.outcome for each in MessageAttempt.objects.order_by("id")] == ["down"] * 8 + [
        "took it"
    ]
    assert messages(channel_id, 9)[0].state == "sent"


def test_a_worker_that_ends_while_it_sends_is_an_attempt_and_another_sends_later() -> None:
    added()
    raised(matter="a")
    far = Sending()

    def ended(message: OutgoingMessage, at: datetime) -> PostOutcome:
        far.got.append(message)
        raise SystemExit

    actions.route_alerts(at=AT)
    with pytest.raises(SystemExit):
        actions.send_due_messages(sender=ended, clock=lambda: AT)
    raised(matter="b")

    sent = [far.sweep(AT + minutes * MINUTE) for minutes in (14, 15, 16)]

    assert sent == [0, 1, 1], (
        "nothing goes there while it may still be sent; it is tried a minute later"
    )
    first, second, again = far.got
    assert (again.id, again.text.subject) == (first.id, first.text.subject)
    assert second.id != first.id, "a claimed message takes nothing more in"
    said = MessageAttempt.objects.filter(message_id=first.id).order_by("id")
    assert [each.outcome for each in said] == [
        "nobody knows: the worker ended while it was sent", "took it",
    ]  # fmt: skip


@pytest.mark.enable_socket
@pytest.mark.django_db(transaction=True)
def test_while_a_slow_far_end_answers_nothing_is_locked_and_nobody_else_sends_there(
    settings: Any,
) -> None:
    """With a real server that answers when it is let: its channel may be read, paused and removed meanwhile."""
    asked, may_answer = threading.Event(), threading.Event()

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.set()
            may_answer.wait(9)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *given: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/hook"
    slow = added("slow", kind="webhook", address=address).id
    fine = added("fine").id
    for channel_id in (slow, slow, fine):
        AlertMessage.objects.create(channel_id=channel_id, made_at=AT, due_at=AT)
    sent: list[int] = []

    def sweep() -> None:
        sent.append(actions.send_due_messages(sender=send_message, clock=lambda: AT))
        connection.close()

    worker = threading.Thread(target=sweep)
    worker.start()
    assert asked.wait(9)
    far = Sending()
    with transaction.atomic():
        AlertChannel.objects.select_for_update(nowait=True).get(pk=slow)
        AlertMessage.objects.select_for_update(nowait=True).filter(channel_id=slow).count()
    beside = actions.send_due_messages(sender=far, clock=lambda: AT)
    actions.remove_channel(channel_id=slow, at=AT)
    may_answer.set()
    worker.join(20)
    server.shutdown()
    server.server_close()

    assert beside == 1, "the other channel's alone"
    assert [message.kind for message in far.got] == ["mail"]
    assert sent == [1], "what was removed meanwhile is not sent"
    assert MessageAttempt.objects.filter(message__channel_id=slow, is_sent=True).count() == 1
    assert set(
        AlertMessage.objects.filter(channel_id=slow).values_list("state", "claimed_until")
    ) == {("dropped", None)}


def test_a_test_is_tried_once_also_where_the_channel_is_paused_and_removal_drops_what_waits() -> (
    None
):
    channel_id = added().id
    AlertChannel.objects.update(paused_at=AT)
    actions.try_channel(channel_id=channel_id, at=AT)
    opened()
    far = Sending(is_up=False)
    far.sweep()
    (only,) = far.got
    assert "test" in only.text.subject
    assert sorted(each.state for each in messages(channel_id, 9)) == ["dropped", "waiting"]
    actions.remove_channel(channel_id=channel_id, at=AT)
    assert [each.state for each in messages(channel_id, 9)] == ["dropped", "dropped"]
    assert not AlertChannel.objects.exclude(address="").exists()


def test_a_webhook_is_signed_so_that_its_reader_can_tell() -> None:
    with served(204) as (address, seen):
        issued = added(kind="webhook", address=address + "hook")
        opened(90)
        actions.route_alerts(at=AT)
        assert actions.send_due_messages(sender=send_message, clock=lambda: AT) == 1
    ((headers, body),) = seen
    assert issued.key is not None
    signed = f"{headers['Runrate-Timestamp']}.".encode() + body
    expected = hmac.new(issued.key.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["Runrate-Signature"] == f"v1={expected}"
    told = json.loads(body)
    (alert,) = told["alerts"]
    assert (alert["severity"], alert["title"]) == ("warning", "GPUs has used 90 %")
    assert alert["link"].startswith("https://runrate.example.org/alerts/")
    renewed = actions.renew_channel_key(channel_id=issued.id).key
    assert renewed not in {None, issued.key}


def test_slack_reads_no_markup_of_names() -> None:
    with served(200) as (address, seen):
        added(kind="slack", address=address)
        raised(title="<!channel> & <https://evil.example|GPUs>")
        actions.route_alerts(at=AT)
        actions.send_due_messages(sender=send_message, clock=lambda: AT)
    ((_, body),) = seen
    told = json.loads(body)
    assert told["text"] == "&lt;!channel&gt; &amp; &lt;https://evil.example|GPUs&gt;"
    assert "<!channel>" not in body.decode()


def text_to_send() -> MessageText:
    """Of the one message that waits."""
    actions.route_alerts(at=AT)
    return message_text(AlertMessage.objects.get())


def test_slack_makes_no_links_of_what_is_only_text_and_gets_no_half_of_anything() -> None:
    added()
    raised(title="&" * 4_000, facts=[("See", "https://evil.example"), ("All", "<" * 3_000)])
    (block,) = text_to_send().slack["blocks"]
    text = block["text"]["text"]
    assert block["text"]["verbatim"], "addresses in it are no links"
    link, seen, facts = text.partition("…>*\n")
    assert seen, "the link ends"
    assert re.fullmatch(r"\*<https://runrate.example.org/alerts/\d+\|(&amp;)+", link)
    assert facts == "See: https://evil.example", "a fact that there is no room for is left out"
    assert len(text) < 3_000, "what Slack takes"


def test_a_name_of_several_lines_is_one_line_of_a_message() -> None:
    added()
    raised(
        title="A\r\nBcc: evil@example.org", facts=[("Team", "Blue\nSo far: $0"), ("So far", "$50")]
    )
    text = text_to_send()
    assert text.subject == "A Bcc: evil@example.org"
    assert "Blue So far: $0" in text.plain
    assert "Team: Blue So far: $0\nSo far: $50" in text.slack["blocks"][0]["text"]["text"]


def test_a_channel_is_removed_whatever_others_are_called() -> None:
    first = added("ops").id
    added(f"ops (removed {first})")
    actions.remove_channel(channel_id=first, at=AT)
    assert [each.name for each in channels()] == [f"ops (removed {first})"]
    added("ops")


def test_a_mail_reaches_a_real_server_in_both_forms(settings: Any, smtp: Mailbox) -> None:
    settings.MAIL_IS_SET = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", smtp.port
    added(address="fin@example.org, lee@example.org")
    raised(title="GPUs <b>has</b>\r\nBcc: all@example.org used 90 %")
    actions.route_alerts(at=AT)
    assert actions.send_due_messages(sender=send_message, clock=lambda: AT) == 1
    ((to, content),) = smtp.got
    assert to == ["fin@example.org", "lee@example.org"]
    mail = message_from_bytes(content)
    assert mail["Subject"].startswith("Runrate: GPUs <b>has</b> Bcc: all@example.org used")
    plain, html = (part.get_payload(decode=True) for part in mail.get_payload())  # type: ignore[union-attr]
    assert b"So far: $50" in plain  # type: ignore[operator]
    assert b"&lt;b&gt;has" in html  # type: ignore[operator]


def test_without_a_mail_server_it_is_said(settings: Any) -> None:
    settings.MAIL_IS_SET = False
    channel_id = added().id
    opened()
    actions.route_alerts(at=AT)
    assert actions.send_due_messages(sender=send_message, clock=lambda: AT) == 0
    (waiting,) = messages(channel_id, 9)
    assert waiting.outcome == "mail is not set up: RUNRATE_MAIL_URL names no server"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": " "}, "name"),
        ({"address": "no address"}, "mail"),
        ({"quiet_from": 3}, "quiet"),
        ({"quiet_from": 3, "quiet_to": 3}, "quiet"),
        ({"kind": "webhook", "address": "https://169.254.169.254/latest"}, "private"),
        ({"kind": "slack", "address": "https://a:b@hooks.example.org/x"}, "password"),
        ({"kind": "webhook", "address": "ftp://hooks.example.org"}, "https"),
    ],
)
def test_a_channel_that_nothing_can_be_sent_to_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Refusal, match=said):
        added(**given)
    assert not AlertChannel.objects.exists()


def test_no_secret_of_a_channel_is_in_a_line_a_page_an_answer_or_the_trail(
    client: Any, caplog: Any, smtp: Mailbox
) -> None:
    secret = "T00000000/XXXXsecretXXXX"
    petra = make.make_person("petra@example.org", role="platform")
    with served(500) as (address, _):
        issued = added("hooked", kind="webhook", address=f"{address}{secret}")
        actions.try_channel(channel_id=issued.id, at=AT)
        actions.send_due_messages(sender=send_message, clock=lambda: AT)
    client.force_login(accounts_user(petra))
    told = "".join(
        client.get(path).content.decode()
        for path in (
            "/alerts/channels", "/alerts/channels.csv", f"/alerts/channels/{issued.id}",
            f"/alerts/channels/{issued.id}.csv", f"/alerts/channels/{issued.id}/change",
            "/alerts/messages", "/alerts/messages.csv", "/api/v1/alert-channels",
            f"/api/v1/alert-channels/{issued.id}", "/api/v1/alert-messages", "/people/trail",
        )
    )  # fmt: skip
    assert "hooked" in told
    assert issued.key is not None
    for hidden in (secret, issued.key):
        assert hidden not in told
        assert hidden not in caplog.text
    assert issued.key not in repr(issued)


def test_who_does_not_see_everything_sees_no_channel(client: Any) -> None:
    channel_id = added().id
    team_id = make.make_team("Red")
    lee = make.make_person("lee@example.org", role="lead")
    accounts.place_in_teams(person_id=lee, team_ids=[team_id])
    client.force_login(accounts_user(lee))
    for path in ("/alerts/channels", f"/alerts/channels/{channel_id}", "/alerts/messages",
                 "/alerts/channels/new", "/api/v1/alert-channels", "/api/v1/alert-messages"):  # fmt: skip
        assert client.get(path).status_code == 403
    assert viewer_of_user(lee).role == "lead"


def accounts_user(person_id: int) -> Any:
    """Who signs in."""
    from django.contrib.auth import get_user_model

    return get_user_model().objects.get(pk=person_id)
