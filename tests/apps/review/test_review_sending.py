"""A weekly review is set as PDFs, and sent once to each channel that gets it, to each their part."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from pypdf import PdfReader

from apps.accounts import actions as accounts
from apps.accounts.queries import viewer_of_user
from apps.review import actions
from apps.review.models import AlertMessage, WeeklyReview
from apps.review.providers.sending import mail_of, send_message
from apps.review.queries.channels import messages
from apps.review.queries.message_parts import MessageText
from apps.review.queries.message_text import OutgoingMessage, outgoing_message
from apps.review.queries.weekly.paper_mail import mailed_review
from apps.review.queries.weekly.review_files import review_files, review_pdf
from apps.show.document import OutgoingDocument
from apps.show.document.pdf import document_pdf
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.review import reviews
from tests.apps.review.mailbox import Mailbox
from tests.apps.review.review_papers import paper_of, whole_review
from tests.apps.review.test_alerts import raised
from tests.apps.review.test_messages import Sending, added
from tests.show.test_document import Markup

pytestmark = pytest.mark.django_db
AT = datetime(2026, 7, 27, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _world(settings: LazySettings) -> None:
    make.make_organisation()
    settings.SITE_URL = "https://runrate.example.org"


def frozen(at: datetime = AT, reason: str = "", **teams: int) -> WeeklyReview:
    """A review that has a workload of each of these teams."""
    workloads = [
        reviews.workload(
            add_workload(name=f"{name} model", team_id=team_id, kind="serving"),
            team_id,
            name=f"{name} model",
        )
        for name, team_id in teams.items()
    ]
    content = reviews.content(
        *workloads,
        teams=tuple(reviews.team(team_id, name=name) for name, team_id in teams.items()),
    )
    review_id = actions.freeze_review(content=content, at=at, reason=reason)
    return WeeklyReview.objects.get(pk=review_id)


def typed(document: OutgoingDocument, at: datetime) -> bytes:
    """In place of the typesetter, where what it sets does not matter."""
    return f"{document.title} at {at:%H:%M}".encode()


def routed(at: datetime = AT) -> int:
    actions.make_review_files(typeset=typed, at=at)
    return actions.route_reviews(at=at)


def test_a_review_goes_once_to_the_channels_that_get_it_to_each_their_part() -> None:
    research, blue, idle = (make.make_team(name) for name in ("Research", "Blue", "Idle"))
    below = make.make_team("Evaluation", parent_id=research)
    for name, team_id in (("all", None), ("research", research), ("idle", idle)):
        added(name, team_id=team_id, gets_reviews=True)
    added("alerts alone")
    review = frozen(Evaluation=below, Blue=blue)
    assert routed() == 2, "nothing of it is of the team Idle"
    assert routed(AT + MINUTE) == 0, "an edition is sent once"
    far = Sending()
    assert far.sweep(AT) == 2
    by_channel = {message.id: message.text for message in far.got}
    whole, part = by_channel.values()
    assert "Blue model" in whole.plain
    assert "Evaluation model" in whole.plain
    assert "Blue model" not in part.plain + part.html
    assert "Evaluation model" in part.plain
    assert part.body["review"]["team_id"] == research
    assert part.body["review"]["digest"] == review.digest
    assert json.dumps(part.slack).count("https://runrate.example.org/weekly-reviews/2026-W30|") == 1
    assert [fact.review for fact in messages(None, 9)] == ["2026-W30"] * 2


def test_a_further_edition_is_sent_and_what_is_old_is_not() -> None:
    added(gets_reviews=True)
    team = make.make_team("Blue")
    frozen(at=AT - timedelta(days=4), Blue=team)
    assert routed() == 0, "news of four days ago is none"
    first = WeeklyReview.objects.get()
    again = actions.freeze_review(
        content=reviews.content(teams=(reviews.team(team),)), at=AT, reason="a bill came late"
    )
    assert routed() == 1
    (message,) = AlertMessage.objects.all()
    assert message.review_id == again != first.pk
    assert "edition 2: a bill came late" in " ".join(outgoing_message(message).text.plain.split())


def test_a_mail_waits_for_its_pdf_but_not_for_ever() -> None:
    added(gets_reviews=True)
    frozen(Blue=make.make_team("Blue"))
    assert actions.route_reviews(at=AT + MINUTE) == 0
    assert actions.route_reviews(at=AT + timedelta(minutes=16)) == 1


def test_an_alert_does_not_ride_on_a_review_that_waits() -> None:
    added(gets_reviews=True)
    frozen(Blue=make.make_team("Blue"))
    assert routed() == 1
    raised(matter="a")
    actions.route_alerts(at=AT)
    alone = {
        (message.review_id is None, len(message.entry_ids))
        for message in AlertMessage.objects.all()
    }
    assert alone == {(False, 0), (True, 1)}


def test_a_daily_channel_gets_it_in_the_morning() -> None:
    added(gets_reviews=True, pace="daily")
    frozen(Blue=make.make_team("Blue"))
    routed()
    assert AlertMessage.objects.get().due_at > AT


def test_a_mail_server_gets_text_and_html_that_say_the_same(
    settings: LazySettings, smtp: Mailbox
) -> None:
    settings.MAIL_IS_SET = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", smtp.port
    added(gets_reviews=True, address="lead@example.org")
    frozen(Blue=make.make_team("Blue"))
    routed()
    assert actions.send_due_messages(sender=send_message, clock=lambda: AT) == 1
    ((to, content),) = smtp.got
    mail = message_from_bytes(content)
    assert to == ["lead@example.org"]
    assert [part.get_content_type() for part in mail.walk()] == [
        "multipart/alternative",
        "text/plain",
        "text/html",
    ]
    plain, html = (
        part.get_payload(decode=True).decode()  # type: ignore[union-attr]
        for part in mail.walk()
        if not part.is_multipart()
    )
    assert max(len(line) for line in plain.splitlines() if "https://" not in line) <= 78
    said = " ".join(Markup(html).words)
    assert "Blue model" in plain
    assert "Blue model" in said
    amounts = re.compile(r"\$[\d.,]*\d")
    assert set(amounts.findall(plain)) <= set(amounts.findall(said))
    assert not Markup(html).tags & {"img", "script", "link"}


def test_a_mail_of_2000_workloads_is_small_on_the_wire() -> None:
    mailed = mailed_review(paper_of(whole_review(2_000)))
    text = MessageText(mailed.document.title, mailed.text, mailed.html, {}, {})
    wire = mail_of(OutgoingMessage(1, "mail", "lead@example.org", "", text)).message().as_bytes()
    assert len(wire) < 100 * 1024


def test_who_sees_all_has_the_whole_pdf_and_a_lead_their_teams() -> None:
    research, blue = make.make_team("Research"), make.make_team("Blue")
    below = make.make_team("Evaluation", parent_id=research)
    review = frozen(Evaluation=below, Blue=blue)
    assert actions.make_review_files(typeset=partial(document_pdf, more_fonts=""), at=AT) == 4, (
        "three teams and the whole"
    )
    assert actions.make_review_files(typeset=typed, at=AT) == 0, "once"
    petra = viewer_of_user(make.make_person("petra@example.org"))
    lea = make.make_person("lea@example.org", role="lead")
    accounts.place_in_teams(person_id=lea, team_ids=[research])
    lead = viewer_of_user(lea)
    ((whole,), (part,)) = (review_files(review.pk, viewer) for viewer in (petra, lead))
    assert (whole.team, part.team) == (None, "Research")
    pages = PdfReader(io.BytesIO(review_pdf(part.id))).pages
    said = "".join(page.extract_text() for page in pages)
    assert "Evaluation model" in said
    assert "Blue model" not in said
    assert review.digest in said.replace("\n", "")


def test_a_pdf_is_made_of_a_review_of_any_moment() -> None:
    """Clocks tell parts of a second, which dates of files do not have."""
    made_at = AT + timedelta(microseconds=1)
    frozen(at=made_at)
    typeset = partial(document_pdf, more_fonts=None)
    assert actions.make_review_files(typeset=typeset, at=made_at) == 1


def test_a_file_that_was_cut_short_is_made_up_for() -> None:
    """The whole is last: a worker that is killed before it leaves the review to the next sweep."""
    frozen(Blue=make.make_team("Blue"), Red=make.make_team("Red"))
    set_ = list[str]()

    def killed(document: OutgoingDocument, at: datetime) -> bytes:
        if set_:
            raise KeyboardInterrupt
        set_.append(document.title)
        return b"%PDF-"

    with pytest.raises(KeyboardInterrupt):
        actions.make_review_files(typeset=killed, at=AT)
    assert actions.make_review_files(typeset=typed, at=AT) == 2


def test_the_command_writes_what_is_kept_as_each_file(tmp_path: Path, capsys: Any) -> None:
    review = frozen(Blue=make.make_team("Blue"))
    files = {"--html": tmp_path / "r.html", "--pdf": tmp_path / "r.pdf", "--csv": tmp_path}
    said = [part for name, path in files.items() for part in (name, str(path))]
    call_command("weekly_review", "--week", review.week, "--text", *said)
    printed = capsys.readouterr()
    assert "Blue model" in printed.out
    assert "r.pdf: " in printed.err
    assert "Blue model" in files["--html"].read_text()
    assert files["--pdf"].read_bytes().startswith(b"%PDF-")
    rows = (tmp_path / "2026-W30-workloads.csv").read_text().splitlines()
    assert len(rows) == 2
    with pytest.raises(CommandError, match="cannot be written"):
        call_command(
            "weekly_review", "--week", review.week, "--pdf", str(tmp_path / "no" / "r.pdf")
        )
