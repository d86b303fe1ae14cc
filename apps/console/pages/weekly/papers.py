"""A week's review as it goes out: the PDFs that a worker made, and the mail as it looks."""

from collections.abc import Sequence

from django.http import HttpResponse
from django.urls import path, reverse

from apps.console.kit.frame import Link
from apps.console.kit.page import shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.pages.weekly.visible_review import get_review_or_404
from apps.review.queries.weekly.paper_mail import mailed_review
from apps.review.queries.weekly.review_files import ReviewFileFact, review_files, review_pdf
from apps.review.queries.weekly.review_message import review_paper

MAIL_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""A mail has its style within; it runs nothing, and fetches nothing."""


def paper_links(context: Context, review_id: int, week: str) -> list[Link]:
    """Ways to the PDFs that the viewer may have, once they are made, and to the mail."""
    files = review_files(review_id, context.viewer)
    links = [Link(_file_words(file, files), _file_href(file, week)) for file in files]
    return [*links, Link("Mail preview", reverse("weekly-review-mail", args=[week]))]


def _file_words(file: ReviewFileFact, files: Sequence[ReviewFileFact]) -> str:
    return "PDF" if len(files) == 1 else f"PDF of {file.team}"


def _file_href(file: ReviewFileFact, week: str) -> str:
    part = f"?team={file.team_id}" if file.team_id is not None else ""
    return reverse("weekly-review-pdf", args=[week]) + part


@shown(EVERYONE, "weekly-reviews", carries=False)
def review_pdf_file(context: Context, week: str) -> HttpResponse:
    """The PDF of the whole, or of a part that is theirs: the one of `team`, else the first."""
    review = get_review_or_404(context, week).kept
    team_key = context.query.get("team", "")
    files = review_files(review.id, context.viewer)
    # Who sees the whole has it in place of any part.
    chosen = [
        file
        for file in files
        if not team_key or file.team_id is None or str(file.team_id) == team_key
    ]
    file = value_or_404(
        chosen[0] if chosen else None, "The PDF is made within minutes of the review."
    )
    name = f"weekly-review-{review.week}{f'-team-{file.team_id}' if file.team_id else ''}.pdf"
    return HttpResponse(
        review_pdf(file.id),
        content_type="application/pdf",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@shown(EVERYONE, "weekly-reviews", carries=False)
def review_mail(context: Context, week: str) -> HttpResponse:
    """The mail, with what of the review the viewer sees."""
    mailed = mailed_review(review_paper(get_review_or_404(context, week).kept))
    return HttpResponse(mailed.html, headers={"Content-Security-Policy": MAIL_POLICY})


@shown(EVERYONE, "weekly-reviews", carries=False)
def review_mail_text(context: Context, week: str) -> HttpResponse:
    """Return the mail of a weekly review as plain text."""
    mailed = mailed_review(review_paper(get_review_or_404(context, week).kept))
    return HttpResponse(mailed.text, content_type="text/plain; charset=utf-8")


urlpatterns = [
    path("weekly-reviews/<slug:week>/pdf", review_pdf_file, name="weekly-review-pdf"),
    path("weekly-reviews/<slug:week>/mail", review_mail, name="weekly-review-mail"),
    path("weekly-reviews/<slug:week>/mail.txt", review_mail_text, name="weekly-review-mail-text"),
]
