"""A job as somebody tries it: its form, and the answer to it, of which nothing is kept."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from apps.accounts import queries as accounts
from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import AmountField, NonNegativeIntegerField, PickField, TicksField
from apps.console.kit.request import Context
from apps.console.pages.placement import words
from apps.economics.placement.estimates import LEAST_CHANCE
from apps.economics.refusal import Refusal
from apps.placement.queries.book import BookFact
from apps.placement.queries.placement_scope import PlacementScope
from apps.placement.queries.quote_answer import answer_quote
from apps.placement.queries.quote_request import QuoteRequest, RequestedDataset, RequestedWork

MINUTE_SECONDS = 60
FIELDS = {"gpus": "gpus", "work": "gpu_hours", "dataset": "place", "deadline": "deadline_hours"}


class JobForm(ChangeForm):
    """A job: how much work, what may be waited for, and what is assumed where nothing was measured."""

    gpus = NonNegativeIntegerField("GPUs at once", initial="8", is_needed=True)
    gpu_hours = AmountField("Work in GPU-hours", initial="384", is_needed=True)
    of_model = PickField(
        "GPU-hours of", hint="They are carried to other models by their dense bf16 peaks."
    )
    models = TicksField("GPU models allowed", hint="None ticked: any.")
    memory = AmountField("Memory of a GPU, GiB", "At least; empty: any.")
    residency = TicksField("Places allowed", hint="None ticked: any.")
    kind = PickField("The work", words.KINDS, initial="interruptible")
    has_fallback = PickField(
        "Fallback of serving", {"no": "None", "yes": "On demand takes over"}, initial="no"
    )
    deadline_hours = AmountField("Deadline, hours from now", "Empty: none.", initial="72")
    chance = AmountField("Least chance of it, %", "Below it an offer is late.", initial="90")
    priority = PickField("Priority", hint="The scheduler’s QOS, whose waits are counted.")
    write_minutes = AmountField("A checkpoint blocks, minutes", "Empty: not known.", initial="1")
    cadence_minutes = AmountField("Checkpoint every, minutes", "Empty: the best is advised.")
    restart_minutes = AmountField("A restart takes, minutes", initial="6", is_needed=True)
    place = PickField("Data lies in", hint="Moving it costs what egress prices say.")
    gigabytes = AmountField("Data, gigabytes")
    gbps = AmountField("It moves at, Gbit/s", "Empty: not known.")
    budget_team = PickField("Team", hint="Whose budgets are shown.")
    wait_minutes = AmountField(
        "Assumed wait, minutes", "Where none was measured; empty: not known.", initial="15"
    )
    per_day = AmountField(
        "Assumed interruptions a day", "On spot without evidence; empty: not known."
    )


def tried_job(context: Context, book: BookFact) -> tuple[JobForm, dict[str, Any] | None]:
    """The form, and the answer to it; None where it was refused."""
    begun = {"of_model": _usual_model(book)}
    form = JobForm(context.query, context, picks=_form_picks(book), initial=begun, is_sent=True)
    if not form.is_valid():
        return form, None
    quote_request = _quote_request(form.cleaned_data, context)
    try:
        return form, answer_quote(
            quote_request, PlacementScope(context.seen_teams), context.at
        ).answer
    except Refusal as refusal:
        form.refuse(refusal, FIELDS)
        return form, None


def _usual_model(book: BookFact) -> str:
    """The model of which pools on record have the most GPUs; empty where there is none."""
    gpus: Counter[str] = Counter()
    for offer in book.offers.values():
        gpus[offer.gpu_model] += offer.there_gpus or 0
    ((model, count),) = gpus.most_common(1) or [("", 0)]
    return model if count else ""


def _form_picks(book: BookFact) -> dict[str, dict[str, str]]:
    offers = book.offers.values()
    models = {model: model for model in sorted({offer.gpu_model for offer in offers})}
    places = {place: place for place in sorted({offer.place for offer in offers})}
    return {
        "of_model": {"": "Any model: as many on each", **models},
        "models": models,
        "residency": places,
        "priority": {"": "Any", **{name: name for name in _priority_names(book)}},
        "place": {"": "Nowhere: nothing to move", **places},
        "budget_team": {"": "None", **{str(team.id): team.name for team in accounts.teams()}},
    }


def _priority_names(book: BookFact) -> list[str]:
    return sorted({name for offer in book.offers.values() for name in offer.waits_by_priority})


def _quote_request(entered: Mapping[str, Any], context: Context) -> QuoteRequest:
    data = None
    if entered["place"] and entered["gigabytes"] is not None:
        gbps = number_of(entered["gbps"])
        data = RequestedDataset(entered["place"], float(entered["gigabytes"]), gbps)
    hours = entered["deadline_hours"]
    return QuoteRequest(
        gpus=max(1, entered["gpus"]),
        work=RequestedWork(gpu_hours=float(entered["gpu_hours"]), of_model=entered["of_model"]),
        gpu_models=tuple(entered["models"]),
        gpu_memory_gib=number_of(entered["memory"]),
        residency=tuple(entered["residency"]),
        priority=entered["priority"],
        least_chance=_share_of(entered["chance"]),
        deadline=None if hours is None else context.at + timedelta(hours=float(hours)),
        write_seconds=_seconds_of(entered["write_minutes"]),
        cadence_seconds=_seconds_of(entered["cadence_minutes"]),
        restart_seconds=_seconds_of(entered["restart_minutes"]) or 0.0,
        kind=entered["kind"],
        has_fallback=entered["has_fallback"] == "yes" and entered["kind"] == "serving",
        dataset=data,
        team_id=int(entered["budget_team"]) if entered["budget_team"] else None,
        assumed_wait_minutes=number_of(entered["wait_minutes"]),
        assumed_interruptions_per_day=number_of(entered["per_day"]),
        limit=300,
    )


def number_of(amount: Any) -> float | None:
    """As arithmetic takes it; None where nothing was entered."""
    return None if amount is None else float(amount)


def _share_of(percent: Any) -> float:
    return LEAST_CHANCE if percent is None else min(1.0, float(percent) / 100)


def _seconds_of(minutes: Any) -> float | None:
    return None if minutes is None else float(minutes) * MINUTE_SECONDS
