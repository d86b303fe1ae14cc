"""Setup: the questions, and the one answer that is given right here."""

from dataclasses import replace
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.queries import Role, organisation
from apps.console.kit.request import MANAGES, SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.waiting import keep_count
from apps.console.pages.setup.questions import Questions, questions, recount
from apps.console.pages.setup.values import SetupPage
from apps.fleet import actions as fleet
from apps.fleet.queries import living_machines, node_names
from apps.show.amounts import counted


@require_safe
@shown_to(SEES_EVERYTHING)
def setup(request: HttpRequest) -> HttpResponse:
    """Everything that waits for an answer."""
    at = timezone.now()
    chosen = organisation()
    waiting = questions(at, chosen)
    keep_count(waiting.total, at)
    frame = frame_of(request, chosen, "setup", waiting.total)
    may_manage = getattr(request.user, "role", "") == Role.PLATFORM
    is_fresh = not waiting.total and not living_machines(at)
    # Finance may look, and an import is not theirs to begin.
    unclaimed = waiting.unclaimed_work
    unclaimed = unclaimed if may_manage else replace(unclaimed, step=None)
    page = SetupPage(
        frame=frame,
        finding="Nothing is on record yet." if is_fresh else finding(waiting),
        currency=chosen.currency,
        zone=ZoneInfo(chosen.zone),
        may_confirm=may_manage,
        is_fresh=is_fresh,
        unconfirmed_nodes=waiting.unconfirmed_nodes,
        unknown_nodes=waiting.unknown_nodes,
        silent_nodes=waiting.silent_nodes,
        unpriced_pools=waiting.unpriced_pools,
        unclaimed_work=unclaimed,
        unowned_accounts=waiting.unowned_accounts,
        rejected_windows=waiting.rejected_windows,
    )
    return render(request, "setup/page.html", {"page": page})


@require_POST
@shown_to(MANAGES)
def confirm_devices(request: HttpRequest, node_id: int) -> HttpResponse:
    """The devices of a node are ours; said again it changes nothing."""
    name = node_names([node_id]).get(node_id)
    if name is None:
        messages.warning(request, "That node is no longer on record; nothing was changed.")
    else:
        confirmed = fleet.confirm_devices(node_id=node_id, at=timezone.now())
        messages.success(request, f"{counted(confirmed, 'device')} of {name} confirmed.")
        recount()
    return redirect("setup")


def finding(waiting: Questions) -> str:
    """How much waits, in one sentence."""
    if not waiting.total:
        return "Nothing waits for an answer."
    verb = "waits" if waiting.total == 1 else "wait"
    return f"{counted(waiting.total, 'question')} {verb} for an answer."
