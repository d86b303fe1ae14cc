"""Closing a month, opening it again, and posting what came after: each looked at before it is done."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from django.urls import path, reverse

from apps.accounts.queries import Role, teams
from apps.console.kit.cells import MONEY
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import TextField, TicksField
from apps.console.kit.frame import Link
from apps.console.kit.request import Context, value_or_404
from apps.console.kit.table import Table
from apps.economics.hours import parse_month_text
from apps.economics.money import sum_of_known
from apps.ledger.actions import close as actions
from apps.ledger.actions.closed import MonthAlreadyClosed
from apps.ledger.queries.closes import months as asked
from apps.ledger.queries.closes.checklist import Item, checklist, has_ended
from apps.ledger.queries.closes.differences import corrections_posted
from apps.show.amounts import counted
from apps.show.money import full_amount
from apps.tables.column import Column

CLOSES = frozenset({Role.FINANCE})
LONGEST_NOTE = 2_000
REFUSALS = (
    actions.ItemsNotAccepted,
    actions.MonthNotClosed,
    actions.MonthNotOver,
    actions.MonthNotReady,
    actions.NoOpenMonth,
    MonthAlreadyClosed,
)
TOLD_TEAMS = Table[tuple[str, int | None]](
    "teams",
    "What each team’s statement will say",
    (
        Column("team", "Team", lambda row: row[0]),
        Column("micros", "Effective cost", lambda row: row[1], MONEY),
    ),
    noun=("team", "teams"),
)


class CloseForm(ChangeForm):
    """Form of a close: which open items are waived, and what is kept with it."""

    accept = TicksField("Waived")
    note = TextField("Note", "kept with the close and on its statements", longest=LONGEST_NOTE)


class ReopeningForm(ChangeForm):
    """Why a month is opened again."""

    reason = TextField(
        "Open it again, because",
        "both versions stay readable; the audit trail names you",
        needed="Say why it is opened again.",
        longest=LONGEST_NOTE,
    )


def month_of(text: str) -> date:
    """`2026-07` as its first day; 404 for anything else."""
    return value_or_404(parse_month_text(text))


@changing(CLOSES, "months")
def close_month(context: Context, month: str) -> Change[actions.CloseRequest]:
    """Says which figures freeze and who is told what, then closes the month."""
    of = month_of(month)
    items = checklist(of)

    def read(entered: Mapping[str, Any]) -> actions.CloseRequest:
        if not has_ended(of, context.at):
            raise actions.MonthNotOver(f"{of:%B %Y} is not over yet")
        actions.refuse_open(items, entered["accept"])
        return actions.CloseRequest(
            of, context.viewer.person_id, entered["accept"], entered["note"]
        )

    def effects(close: actions.CloseRequest) -> ChangePreview:
        return _frozen_figures(of, [item for item in items if item.code in close.accepted], context)

    def apply(close: actions.CloseRequest) -> Done:
        actions.close_month(request=close, at=context.at)
        return f"{of:%B %Y} is closed.", _page_of(of)

    return Change(
        finding=f"Close {of:%B %Y}",
        explanation="A closed month never changes, unless finance opens it again.",
        back=_back_to(of),
        form=CloseForm,
        confirm=f"Close {of:%B %Y}",
        read=read,
        effects=effects,
        apply=apply,
        refusals=REFUSALS,
        picks={"accept": {item.code: item.label for item in items if not item.is_blocking}},
    )


def _frozen_figures(of: date, waived: list[Item], context: Context) -> ChangePreview:
    """Preview what is told to each team as the month stands, and what of it is left open."""
    names = {team.id: team.name for team in teams()}
    team_costs = [(names[team_id], micros) for team_id, micros in asked.month_by_team(of)]
    total = full_amount(sum_of_known(micros for _, micros in team_costs), context.currency)
    left = [
        f"Waived, and kept with the close: {item.label.lower()} ({item.count:,}). {item.meaning}"
        for item in waived
        if item.count
    ]
    return ChangePreview(
        effects=(
            f"{total} of {of:%B %Y} freezes as it stands: no price, rule, bill or job that comes "
            "later changes it.",
            f"{counted(len(team_costs), 'team')} can read a statement, and finance the journal.",
            *left,
            "Late-arriving facts are posted in the open month, as corrections, once finance says so.",
        ),
        sections=(TOLD_TEAMS.section(team_costs, context),),
    )


def _what_moves(of: date, currency: str) -> Iterator[str]:
    """Yield what of the month's figures is another once it is open: late facts, and what corrected it."""
    late, posted = asked.late_facts(of), corrections_posted(of)
    if late.hours or late.days:
        hours = counted(late.hours, "late-arriving hour") if late.hours else ""
        days = counted(late.days, "day") if late.days else ""
        waiting = " and ".join(filter(None, (hours, days)))
        yield f"{waiting} will be settled anew, and the figures of the month move with them."
    for month, micros in posted:
        yield (
            f"Corrections of {full_amount(micros, currency)} that were posted in {month:%B %Y} are taken "
            f"back there: what they correct is in the figures of {of:%B %Y} itself."
        )
    if not (late.hours or late.days or posted):
        yield "Nothing late waits and nothing was corrected: its figures stay until a fact of it changes."


@changing(CLOSES, "months")
def reopen_month(context: Context, month: str) -> Change[str]:
    """Says what moves again, then opens the month; why is kept with the close."""
    of = month_of(month)

    def effects(_: str) -> tuple[str, ...]:
        return (
            f"{_closed_version(of)} stays readable, marked as opened again.",
            *_what_moves(of, context.currency),
            "Its teams have no statement of it in force until it is closed again.",
        )

    def apply(reason: str) -> Done:
        actions.reopen_month(
            month=of, reason=reason, person_id=context.viewer.person_id, at=context.at
        )
        return f"{of:%B %Y} is open again.", _page_of(of)

    return Change(
        finding=f"Open {of:%B %Y} again",
        explanation="For what corrections in a later month cannot put right.",
        back=_back_to(of),
        form=ReopeningForm,
        confirm=f"Open {of:%B %Y} again",
        read=lambda entered: str(entered["reason"]),
        effects=effects,
        apply=apply,
        refusals=REFUSALS,
    )


@changing(CLOSES, "months")
def post_corrections(context: Context, month: str) -> Change[None]:
    """Says how many hours are settled anew, then posts what they change in the open month."""
    of = month_of(month)

    def effects(_: None) -> tuple[str, ...]:
        _closed_version(of)
        late = counted(asked.late_facts(of).hours, "late-arriving hour")
        return (
            f"{late} of {of:%B %Y} will be settled by what is known now.",
            f"What that changes is posted in the open month, by team; {of:%B %Y} stays as it was "
            "closed.",
        )

    def apply(_: None) -> Done:
        actions.post_corrections(month=of, at=context.at)
        return "The corrections are posted in the open month.", _page_of(of)

    return Change(
        finding=f"Post corrections of {of:%B %Y}",
        explanation="Facts of hours of this month changed after it was closed.",
        back=_back_to(of),
        form=ChangeForm,
        confirm="Post corrections",
        read=lambda _: None,
        effects=effects,
        apply=apply,
        refusals=REFUSALS,
    )


def _closed_version(of: date) -> str:
    """The close in force, in words; refuses MonthNotClosed."""
    for close in asked.closes(of):
        if close.reopened_at is None:
            return f"Version {close.version} of {of:%B %Y}"
    raise actions.MonthNotClosed(f"{of:%B %Y} is open")


def _page_of(of: date) -> tuple[str, str]:
    return "month", f"{of:%Y-%m}"


def _back_to(of: date) -> Link:
    return Link(f"{of:%B %Y}", reverse("month", args=[f"{of:%Y-%m}"]))


urlpatterns = [
    path("months/<slug:month>/close", close_month, name="close-month"),
    path("months/<slug:month>/reopen", reopen_month, name="reopen-month"),
    path("months/<slug:month>/correct", post_corrections, name="correct-month"),
]
