"""Headroom, quotas, requests, waiting, placement and moves: how each answer is computed."""

from apps.console.kit.methods.method import AnswerMethod
from apps.show.prose import Emphasis, Link, prose

OF_CAPACITY = (
    AnswerMethod(
        name="headroom",
        title="Headroom",
        pages=("/headroom",),
        inputs=prose(
            "the newest forecast of a pool, a model or a class; what being short and idling "
            "cost, and the lead time, as stated; GPUs in service now.",
        ),
        how=prose(
            "the share C_u ÷ (C_u + C_o) of demand over the lead time; Erlang C where "
            "something is promised of waiting.",
        ),
        source=prose(
            "Arrow, Harris and Marschak 1951; Erlang 1917; Halfin and Whitt 1981.",
        ),
        weakness=prose(
            "a service level above 90 % rests on a tail that is on the safe side; bursts and "
            "long jobs wait more than Erlang says; classes that share a pool are not added "
            "up.",
        ),
        links=prose(
            Link("Headroom", "guides/headroom.md"),
        ),
    ),
    AnswerMethod(
        name="quotas",
        title="Quotas",
        pages=("/headroom/quotas",),
        inputs=prose(
            "a provider's limits and lead time as entered; GPUs in service in the pools of "
            "that provider, region and model.",
        ),
        how=prose(
            "quota less those used now; the peak of 28 days.",
        ),
        source=prose(
            "counting.",
        ),
        weakness=prose(
            "what a cloud says of its limits is in its own units and read apart (",
            Link("clouds", "guides/clouds.md"),
            ").",
        ),
        links=prose(
            Link("Quotas", "guides/headroom.md#quotas-of-gpus-at-once"),
        ),
    ),
    AnswerMethod(
        name="power-and-cooling-of-rooms",
        title="Power and cooling of rooms",
        pages=("/headroom/rooms",),
        inputs=prose(
            "the GPUs' own power meters by hour, plates of owned hardware, a room's limits "
            "and PUE as entered.",
        ),
        how=prose(
            "meters + hosts' plates, × PUE at the room's meter; GPUs that fit by what one "
            "took at the peak and by its data sheet.",
        ),
        source=prose(
            "PUE as in ISO/IEC 30134-2; data sheets.",
        ),
        weakness=prose(
            "the mean of an hour, and breakers trip on less; ",
            Emphasis("at least"),
            " where a GPU has no meter or a host no plate; switches and storage are not known.",
        ),
        links=prose(
            Link("Power and cooling", "guides/headroom.md#power-and-cooling-of-rooms"),
        ),
    ),
    AnswerMethod(
        name="targets-of-activity",
        title="Targets of activity",
        pages=("/headroom/targets",),
        inputs=prose(
            "GPU time held and observed, kernels resident and SM activity as meters "
            "reported, of four whole weeks.",
        ),
        how=prose(
            "the share reached against the target; the gap in GPU-hours and at the mean "
            "effective cost of what was held.",
        ),
        source=prose(
            "the definitions of ",
            Link("units", "concepts/units.md"),
            ".",
        ),
        weakness=prose(
            "hours that nobody observed are taken to be like the others.",
        ),
        links=prose(
            Link("Targets of activity", "guides/headroom.md#targets-of-activity"),
        ),
    ),
    AnswerMethod(
        name="capacity-requests",
        title="Capacity requests",
        pages=("/capacity-requests",),
        inputs=prose(
            "28 days of the team's use, waste, data waits and queue waits, price and "
            "forecast, as of when it was raised.",
        ),
        how=prose(
            "GPUs that each fix would return, from causes that never overlap; cost = GPUs × "
            "hours × price; the clock from raised to the first productive GPU-hour.",
        ),
        source=prose(
            "the one definition of waste (",
            Link("units", "concepts/units.md#ratios"),
            ").",
        ),
        weakness=prose(
            "means over the span: three GPUs on average may be 24 for three hours a day. A "
            "team whose use swings has its first productive hour found late.",
        ),
        links=prose(
            Link("Capacity requests", "guides/requests.md"),
        ),
    ),
    AnswerMethod(
        name="waiting-and-outages",
        title="Waiting and outages",
        pages=("/headroom/waiting",),
        inputs=prose(
            "submissions and starts of jobs, outages on record, the cost of being short of "
            "the policies above.",
        ),
        how=prose(
            "GPU-hours waited, for outages as far as GPUs were out there at the moment, × "
            "that cost; paid time out at its effective cost. No GPU-hour counts twice.",
        ),
        source=prose(
            "waits that are not over count as far as they have come (Kaplan and Meier 1958).",
        ),
        weakness=prose(
            "all waiting is taken to be for GPUs; past waits are priced as policies are now, "
            "and without a policy their cost is not known.",
        ),
        links=prose(
            Link("Waiting and outages", "guides/headroom.md#waiting-and-outages"),
        ),
    ),
    AnswerMethod(
        name="placement",
        title="Placement",
        pages=("/placement",),
        inputs=prose(
            "pools with their rates and idle GPUs, commitments nobody uses, prices in force, "
            "quotas, queue waits of 14 days, ends of jobs on spot of 60 days, egress prices "
            "and regions with GPUs as imported; the asker's assumptions are named.",
        ),
        how=prose(
            "cost = paid GPU-hours × price + egress; wall time on spot with its exact mean "
            "and variance, the chance of the deadline over waits, work and interruptions. "
            "Predicted against actual stands on the quote.",
        ),
        source=prose(
            "checkpoints and restarts (Daly 2006; Bougeret and others 2011), the gamma's "
            "cube (Wilson and Hilferty 1931), rates from few events (Gamma with prior ½).",
        ),
        weakness=prose(
            "interruptions come at one constant rate, and off spot none is counted; waits "
            "are of jobs that started, whatever their size; GPU models are compared by their "
            "dense bf16 peaks alone; that a cloud has nothing to sell is not known.",
        ),
        links=prose(
            Link("Placement", "guides/placement.md"),
        ),
    ),
    AnswerMethod(
        name="fleet-moves",
        title="Fleet moves",
        pages=(),
        inputs=prose(
            "the ledger's last four whole weeks of GPUs paid by the hour, the offer book, "
            "runs' checkpoints and starts, the newest portfolio, kept comparisons with an "
            "API, data sizes said in quotes.",
        ),
        how=prose(
            "weekly; saving = what is paid by the hour − the same hours elsewhere, p10 to "
            "p90, capped by what is spent; ordered net of moving and by disruption; of moves "
            "for the same dollars the best set is counted.",
        ),
        source=prose(
            "hours on spot as under ",
            Emphasis("Placement"),
            "; the demand floor is a percentile, as break-even utilization asks for.",
        ),
        weakness=prose(
            "disruption and an engineer's hours are assumed; four weeks are few; data sizes "
            "are known from quotes alone; part spot and part commitment of one pool is not "
            "proposed together.",
        ),
        links=prose(
            Link("Fleet moves", "guides/fleet-moves.md"),
        ),
    ),
)
