"""The card of backups: how old the newest is, what is kept, what is going on, and one more at once."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.page import ConsolePage, Include
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.show.data import data_size
from apps.show.time import duration
from apps.web.queries.backups import (
    BackupPlan,
    BackupState,
    backup_plan,
    backup_state,
    is_old,
    request_backup,
)

SECRETS = (
    "are in none of these: keep RUNRATE_SECRET_KEY apart, or the file secret_key of RUNRATE_HOME; "
    "without it, sealed addresses of webhooks and second factors cannot be read again"
)


def backups_card(at: datetime) -> Include:
    """Return the card as things are."""
    return Include("retention/_backups.html", backup_facts(backup_state(), backup_plan(), at))


def backup_facts(state: BackupState, plan: BackupPlan, at: datetime) -> list[tuple[str, str]]:
    """Return what is said of backups, by name."""
    newest = state.newest
    facts = [("Newest", "none yet: everything would be lost with this database")]
    if newest is not None:
        late = ", which is older than it should be" if is_old(state, plan, at) else ""
        age = duration(at - newest.made_at)
        facts = [("Newest", f"{age} old{late}, {data_size(newest.size_bytes)}: {newest.name}")]
    facts.append(("Kept", _describe_copies(state, plan)))
    facts.append(("Made", _schedule_words(plan)))
    if state.making is not None:
        facts.append(("Now", f"one is being made, {state.making:.0%} of it is there"))
    if state.failure:
        facts.append(("Last try", f"failed: {state.failure}"))
    facts.append(("Secrets", SECRETS))
    return facts


def _describe_copies(state: BackupState, plan: BackupPlan) -> str:
    size = data_size(sum(copy.size_bytes for copy in state.copies))
    rule = f"the newest of {plan.daily} days, {plan.weekly} weeks and {plan.monthly} months"
    return f"{len(state.copies)}, {size} together; {rule} (RUNRATE_BACKUP_KEEP_…)"


def _schedule_words(plan: BackupPlan) -> str:
    if plan.every is None:
        return "never by themselves: RUNRATE_BACKUP_EVERY_HOURS is 0"
    return f"every {duration(plan.every)} (RUNRATE_BACKUP_EVERY_HOURS)"


def back_up_view(page: Any) -> Any:
    """Return the view of the button, which goes back to this page."""

    @acting(SEES_EVERYTHING, "people")
    def back_up(context: Context) -> Act:
        """Have the next sweep make a copy."""

        def apply(_: Mapping[str, Any]) -> Done:
            request_backup()
            return "A backup is made within a minute; this page says how far.", ("retention",)

        def drawn(_: ChangeForm) -> ConsolePage:
            drawn_page: ConsolePage = page(context)
            return drawn_page

        return Act(form=ChangeForm(context.sent, context, is_sent=True), apply=apply, page=drawn)

    return back_up
