"""A weekly review as a message to a channel: the mail, a few lines for Slack, the figures for programs."""

from typing import Any

from django.conf import settings

from apps.accounts.queries import organisation, person_names, teams_below
from apps.review.models import AlertMessage, WeeklyReview
from apps.review.queries.message_parts import (
    MessageText,
    site_address,
    slack_escaped,
    slack_section,
)
from apps.review.queries.weekly.narrowed import review_of_teams
from apps.review.queries.weekly.paper import ReviewPaper
from apps.review.queries.weekly.paper_mail import MailedReview, mailed_review
from apps.review.queries.weekly.stored_reviews import StoredReview, stored_review
from apps.show.document import DocumentFigures
from apps.show.time import machine


def review_paper(review: StoredReview, team_id: int | None = None) -> ReviewPaper:
    """A review with what a document of it needs; `team_id` says that it is narrowed to this team."""
    return ReviewPaper(review, person_names(), organisation().name, settings.SITE_URL, team_id)


def paper_of_review(review: WeeklyReview, team_id: int | None) -> ReviewPaper:
    """A frozen review, the whole or a team's part, with what a document of it needs."""
    review_read = stored_review(review.week, edition=review.edition)
    if team_id is not None:
        review_read = review_of_teams(review_read, teams_below(team_id))
    return review_paper(review_read, team_id)


def review_message_text(message: AlertMessage, review: WeeklyReview) -> MessageText:
    """All that a message says that is of this review."""
    paper = paper_of_review(review, message.channel.team_id)
    mailed = mailed_review(paper)
    return MessageText(
        subject=mailed.document.title,
        plain=mailed.text,
        html=mailed.html,
        slack=_slack(mailed, site_address(paper.address)),
        body={
            "id": message.pk,
            "is_test": False,
            "made_at": machine(message.made_at),
            "organisation": paper.author,
            "text": mailed.document.title,
            "alerts": [],
            "review": _body(paper),
        },
    )


def _slack(mailed: MailedReview, link: str | None) -> dict[str, Any]:
    title = slack_escaped(mailed.document.title)
    figures = [
        f"{figure.label}: {figure.number}{f' ({figure.note})' if figure.note else ''}"
        for section in mailed.document.sections
        for block in section.blocks
        if isinstance(block, DocumentFigures)
        for figure in block.figures
    ]
    lines = [f"*<{link}|{title}>*" if link else f"*{title}*", *map(slack_escaped, figures)]
    return {"text": title, "blocks": [slack_section("\n".join(lines))]}


def _body(paper: ReviewPaper) -> dict[str, Any]:
    """Return what a program needs to ask for the rest over REST; amounts in micro-units, None where not known."""
    content = paper.content
    return {
        "week": content.week,
        "edition": paper.kept.edition,
        "digest": paper.kept.digest,
        "team_id": paper.team_id,
        "currency": content.currency,
        "cost_micros": content.cost.micros,
        "cost_status": content.cost.status,
        "waste_micros": content.waste_micros,
        "link": site_address(paper.address),
    }
