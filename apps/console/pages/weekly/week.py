"""The page of one week."""

from datetime import date

from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import digest_shown
from apps.console.kit.change import ChangeForm
from apps.console.kit.form import FormSection
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage
from apps.console.kit.request import Context
from apps.console.pages.weekly.note_forms import ReviewNoteForm
from apps.console.pages.weekly.papers import paper_links
from apps.console.pages.weekly.parts import week_files, week_sections, week_tables
from apps.console.pages.weekly.visible_review import VisibleReview
from apps.review.queries.weekly.paper import review_cautions
from apps.show.time import period


def week_page(
    context: Context, review: VisibleReview, sent: ChangeForm | None = None
) -> ConsolePage:
    """A week as it was frozen, with what was entered of a comment where that is wrong."""
    content, stored_review = review.kept.content, review.kept
    tables_by_name = week_tables(review)
    files = week_files(context, stored_review.week, tables_by_name)
    first, end = date.fromisoformat(content.first_day), date.fromisoformat(content.end_day)
    reason = f": {stored_review.reason}" if stored_review.reason else ""
    return ConsolePage(
        context=context,
        finding=content.title,
        status=content.cost.status,
        under=(
            f"{period(first, end)}, {content.zone}",
            f"{content.basis} cost, as charged",
            f"edition {stored_review.edition} of {stored_review.editions}{reason}",
            format_html("digest {}", digest_shown(stored_review.digest)),
        ),
        back=Link("All weeks", reverse("weekly-reviews")),
        actions=(
            *(
                Link(text, reverse("weekly-review", args=[name]))
                for text, name in (("Week before", review.before), ("Week after", review.after))
                if name
            ),
            *paper_links(context, stored_review.id, stored_review.week),
        ),
        notes=tuple(review_cautions(content)),
        sections=(
            *week_sections(context, review, tables_by_name, files),
            _comment_form(context, review, sent),
        ),
        csv_files=tuple(files.values()),
    )


def _comment_form(
    context: Context, review: VisibleReview, sent: ChangeForm | None
) -> FormSection | None:
    if not context.viewer.sees_everything:
        return None
    return ReviewNoteForm.opened(sent, context).section(
        "comment",
        reverse("comment-week", args=[review.kept.week]),
        "Save the comment",
        title="Comment on the week",
        about="kept beside the review, with your name",
    )
