"""Entering and ending a commitment, each with what it would move before it is done."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.accounts.queries import Role, teams
from apps.console.pages.access import shown_to
from apps.console.pages.changes import ChangePage, Entries, Field, as_entered, moment, one_of
from apps.console.pages.commitments.rows import KINDS
from apps.console.pages.commitments.views import known
from apps.console.pages.fleet.asking import Asking, asking
from apps.console.pages.frame import Link
from apps.console.pages.setup.questions import recount
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.ledger.queries.commitment_preview import Moved, if_ended, if_entered
from apps.pricing import actions
from apps.pricing.queries.commitments import commitments
from apps.show.amounts import counted, per_cent
from apps.show.money import signed_amount, whole_amount

changing = require_http_methods(["GET", "HEAD", "POST"])
BUYS = frozenset({Role.FINANCE})
UNITS = {"node": "Nodes", "gpu": "GPUs"}
TEXTS = ("name", "provider", "region", "instance_type", "gpu_model", "external_id", "source")
AMOUNTS = ("spend", "upfront", "hourly")
STARTS_HINT = "A whole hour; a capacity block's, any minute."
REFUSALS = (
    actions.CommitmentEndsBeforeItStarts,
    actions.CommitmentExists,
    actions.CommitmentNotUnderstood,
)
PRICES_HINT = "Of a spend: what a node’s hour costs under it, as in p5.48xlarge=49.50; …"


@changing
@shown_to(BUYS)
def add_commitment(request: HttpRequest) -> HttpResponse:
    """Says what the commitment would move, then enters it."""
    who = asking(request, "commitments")
    entries = Entries(_given(request), _defaults(who))
    pools, owners = _pool_names(), _team_names()
    thought = _thought_of(entries, pools, owners, who)
    if thought is not None:
        _refuse(entries, thought)
    if request.method == "POST" and thought is not None and not entries.problems:
        try:
            commitment_id = actions.add_commitment(commitment=thought, at=who.at)
        except REFUSALS as refusal:
            _say(entries, refusal)
        else:
            recount()
            messages.success(request, "The commitment is entered; past hours are charged again.")
            return redirect("commitment", commitment_id)
    is_ready = thought is not None and not entries.problems
    moved = if_entered(actions.as_bought(thought), who.at) if thought and is_ready else None
    page = ChangePage(
        frame=who.frame,
        finding="Enter a commitment",
        explanation="As it was bought. It covers use before any rate does, and its owner carries "
        "what nobody uses.",
        back=Link("Back to commitments", reverse("commitments")),
        here=request.path,
        fields=_fields(entries, pools, owners, who),
        effects=_entering(moved, who.organisation.currency) if moved else (),
        confirm=entries.confirm("Enter this commitment"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(BUYS)
def end_commitment(request: HttpRequest, commitment_id: int) -> HttpResponse:
    """Says what is no longer covered from then on; then ends the commitment."""
    who, fact = asking(request, "commitments"), known(commitment_id)
    hour = who.at.replace(minute=0, second=0, microsecond=0)
    entries = Entries(_given(request), {"ended_at": as_entered(hour, who.zone)})
    ended_at = entries.read("ended_at", moment(who.zone))
    if request.method == "POST" and ended_at is not None and not entries.problems:
        try:
            actions.end_commitment(commitment_id=commitment_id, ended_at=ended_at, at=who.at)
        except (*REFUSALS, actions.CommitmentAlreadyEnded) as refusal:
            _say(entries, refusal)
        else:
            recount()
            messages.success(request, f"{fact.name} has an end.")
            return redirect("commitment", commitment_id)
    is_ready = ended_at is not None and not entries.problems
    moved = if_ended(commitment_id, ended_at, who.at) if ended_at and is_ready else None
    page = ChangePage(
        frame=who.frame,
        finding=f"End {fact.name} before its term",
        explanation="For one that was returned or cancelled: from then on it covers nothing and "
        "costs nothing. One that is merely not used any more runs on, and so does its cost.",
        back=Link("Back to the commitment", reverse("commitment", args=[commitment_id])),
        here=request.path,
        fields=(
            entries.field(
                "ended_at", f"Ends at ({who.zone.key})", "datetime-local", "A whole hour."
            ),
        ),
        effects=_ending(moved, who.organisation.currency) if moved else (),
        confirm=entries.confirm("End this commitment"),
    )
    return render(request, "components/change_page.html", {"page": page})


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _defaults(who: Asking) -> dict[str, str]:
    hour = who.at.replace(minute=0, second=0, microsecond=0)
    return {
        "name": "",
        "kind": "reserved",
        **dict.fromkeys(("pool", *TEXTS[1:5], "units"), ""),
        "unit": "node",
        **dict.fromkeys(("spend", "prices", "upfront", "hourly"), ""),
        "currency": who.organisation.currency,
        "starts_at": as_entered(hour, who.zone),
        **dict.fromkeys(("ends_at", "owner", *TEXTS[5:]), ""),
    }


def _thought_of(
    entries: Entries, pools: Mapping[str, str], owners: Mapping[str, str], who: Asking
) -> actions.NewCommitment | None:
    """What was entered; None where a field says nothing."""
    kind = entries.read("kind", one_of(KINDS))
    unit = entries.read("unit", one_of(UNITS))
    pool = entries.read("pool", one_of(pools))
    owner = entries.read("owner", one_of(owners))
    units = entries.read("units", _count)
    spend, upfront, hourly = (entries.read(name, _amount) for name in AMOUNTS)
    prices = entries.read("prices", _prices)
    starts_at = entries.read("starts_at", moment(who.zone))
    ends_at = entries.read("ends_at", moment(who.zone))
    if entries.problems or starts_at is None or ends_at is None:
        return None
    said = entries.texts
    return actions.NewCommitment(
        name=said["name"],
        provider=said["provider"],
        region=said["region"],
        instance_type=said["instance_type"],
        gpu_model=said["gpu_model"],
        external_id=said["external_id"],
        source=said["source"],
        spend=spend or Decimal(0),
        upfront=upfront or Decimal(0),
        hourly=hourly or Decimal(0),
        kind=kind or "",
        currency=said["currency"],
        starts_at=starts_at,
        ends_at=ends_at,
        pool_id=int(pool) if pool else None,
        units=units or 0,
        unit=unit or "",
        prices=prices or {},
        owner_id=int(owner) if owner else None,
    )


def _refuse(entries: Entries, thought: actions.NewCommitment) -> None:
    """Say by field what entering it would refuse."""
    try:
        actions.check_commitment(thought)
    except REFUSALS as refusal:
        _say(entries, refusal)
        return
    if any(each.name == thought.name for each in commitments()):
        entries.refused("name", "There is a commitment of this name already.")


def _say(entries: Entries, refusal: Refusal) -> None:
    entries.refused(refusal.field.partition(".")[0], refusal.message)


def _fields(
    entries: Entries, pools: Mapping[str, str], owners: Mapping[str, str], who: Asking
) -> tuple[Field, ...]:
    return (
        entries.field("name", "Name"),
        entries.choice("kind", "Kind", KINDS),
        entries.choice("pool", "What it covers", pools),
        entries.field("provider", "Provider", hint="As pools say it. What is empty is any."),
        entries.field("region", "Region"),
        entries.field("instance_type", "Instance type"),
        entries.field("gpu_model", "GPU model"),
        entries.field("units", "How many", hint="Or the spend below, not both."),
        entries.choice("unit", "Of", UNITS),
        entries.field("spend", "Or a spend an hour", hint="What a savings plan is for, each hour."),
        entries.field("prices", "Which buys at", hint=PRICES_HINT),
        entries.field("upfront", "Paid upfront", hint="Once, for the whole term."),
        entries.field("hourly", "Paid by the hour", hint="For each hour of the term, used or not."),
        entries.field("currency", "In"),
        entries.field("starts_at", f"From ({who.zone.key})", "datetime-local", STARTS_HINT),
        entries.field("ends_at", "To", "datetime-local", "The end of its term."),
        entries.choice("owner", "Who carries what is not used", owners),
        entries.field("external_id", "What the provider calls it", hint="Bills name it so."),
        entries.field("source", "Where this comes from"),
    )


def _pool_names() -> dict[str, str]:
    named = sorted(fleet.pools().values(), key=lambda pool: pool.name.casefold())
    return {
        "": "Everything like the description",
        **{str(pool.id): f"Pool {pool.name}" for pool in named},
    }


def _team_names() -> dict[str, str]:
    named = sorted(teams(), key=lambda team: team.name.casefold())
    return {"": "Platform", **{str(team.id): team.name for team in named}}


def _count(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError("Say a number, as in 8.")
    return int(text)


def _amount(text: str) -> Decimal:
    try:
        return Decimal(text) if text else Decimal(0)
    except InvalidOperation:
        raise ValueError("Say an amount in figures, as in 98.32.") from None


def _prices(text: str) -> dict[str, Decimal]:
    pairs = [each.partition("=") for each in text.split(";") if each.strip()]
    if not all(sign for _, sign, _ in pairs):
        raise ValueError("Say prices as in p5.48xlarge=49.50; p4d.24xlarge=19.20.")
    return {name.strip(): _amount(amount.strip()) for name, _, amount in pairs}


def _entering(moved: Moved, currency: str) -> tuple[str, ...]:
    """What entering would move, in sentences; amounts are estimates."""
    if not moved.hours:
        return (*_closed(moved), "No past hour changes; it covers what runs from its start on.")
    said = [
        f"{counted(moved.hours, 'past hour')} {'is' if moved.hours == 1 else 'are'} charged again. "
        f"It would have been used by {per_cent(moved.utilisation)}."
    ]
    if moved.cost is None:
        said.append("What it costs is not known: its currency has no rate of exchange.")
    elif moved.on_demand is None:
        cost = whole_amount(moved.cost, currency)
        said.append(f"It costs {cost} in them; some of what it would cover has no price.")
    else:
        said.append(
            f"What it would have covered cost about {whole_amount(moved.on_demand, currency)}; "
            f"the commitment costs {whole_amount(moved.cost, currency)} in these hours "
            f"({signed_amount(moved.difference, currency)})."
        )
    return (*said, *_closed(moved))


def _ending(moved: Moved, currency: str) -> tuple[str, ...]:
    """What ending would move, in sentences."""
    if not moved.hours:
        return (*_closed(moved), "No past hour changes; nothing is covered from then on.")
    said = [
        f"{counted(moved.hours, 'past hour')} {'is' if moved.hours == 1 else 'are'} charged again "
        "without it."
    ]
    if moved.difference is None:
        said.append("What that moves is not known: a price or a rate of exchange is missing.")
    else:
        said.append(
            f"{whole_amount(moved.cost, currency)} of its cost goes, and what it covered costs "
            f"about {whole_amount(moved.on_demand, currency)} again "
            f"({signed_amount(-moved.difference, currency)})."
        )
    return (*said, *_closed(moved))


def _closed(moved: Moved) -> tuple[str, ...]:
    if not moved.closed_hours:
        return ()
    hours = counted(moved.closed_hours, "hour")
    return (f"{hours} of closed months stay as they are until somebody posts corrections.",)
