"""Forecasts, plans, purchases and budgets: how each answer is computed."""

from apps.console.kit.methods.method import AnswerMethod
from apps.show.prose import Code, Link, prose

OF_PLANS = (
    AnswerMethod(
        name="forecast-by-the-hour",
        title="Forecast by the hour",
        pages=("/forecasts",),
        inputs=prose(
            "up to 90 days of settled, observed hours of GPU-hours held and waited for, "
            "spend, requests, tokens and queue waits; imported history where nothing was "
            "measured; events that people entered.",
        ),
        how=prose(
            "the weighted median of cheap candidates, weighed by their errors at the same "
            "lead; intervals from the method's own errors; totals from sample paths. Where "
            "its best baseline did better before, that is the answer and says so. Inputs' "
            "digest, weights and errors are kept.",
        ),
        source=prose(
            "weighted medians of forecasts; split conformal prediction, adapted by the day "
            "(Gibbs and Candès 2021); rare demand by TSB (Teunter, Syntetos and Babai 2011) "
            "and by larger blocks of time (ADIDA).",
        ),
        weakness=prose(
            "knows of nothing that nobody entered; a new level is followed within a day or "
            "two. On series that rarely leave their limit the last value alone is better a "
            "week ahead.",
        ),
        links=prose(
            Link("Forecasts", "guides/forecast.md"),
            "; ",
            Code("manage.py backtest"),
            " measures it on a history of yours, ",
            Code("manage.py bench forecast"),
            " on public ones.",
        ),
    ),
    AnswerMethod(
        name="forecast-by-the-day",
        title="Forecast by the day",
        pages=("/forecasts/days",),
        inputs=prose(
            "whole local days of the same series, up to three years; events.",
        ),
        how=prose(
            "200 scenarios of level × shape of the week × what single days do, with half of "
            "the past growth, damped (steady growth: up to the whole of it); totals of "
            "months are of whole scenarios, and of what can be held; rare days by TSB. "
            "Intervals that covered too little are widened. Scored from 77 days of history "
            "on.",
        ),
        source=prose(
            "damped trends (Gardner and McKenzie 1985); block bootstrap (Künsch 1989). Parts "
            "are reconciled with the whole beside their own (Wickramasuriya, Athanasopoulos "
            "and Hyndman 2019).",
        ),
        weakness=prose(
            "knows no seasons of the year; steep growth that goes on is forecast too low; of "
            "a year ahead no coverage is measured.",
        ),
        links=prose(
            Link("By day, for 18 months", "guides/forecast.md#by-day-for-18-months"),
        ),
    ),
    AnswerMethod(
        name="what-if-plans",
        title="What-if plans",
        pages=("/plans",),
        inputs=prose(
            "the newest forecast of the pool or GPU model, trainings and launches that "
            "people enter, prices in force, GPUs owned or reserved now.",
        ),
        how=prose(
            "6·N·D ÷ (peak × MFU) for a training, tokens ÷ measured tokens a GPU-hour for a "
            "launch; weeks priced, and queued (fluid, FIFO) in front of what is owned or "
            "reserved, along each scenario.",
        ),
        source=prose(
            "6·N·D (Kaplan et al. 2020); peaks from the makers' data sheets (",
            Link("GPUs", "reference/gpus.md"),
            ").",
        ),
        weakness=prose(
            "least possible waits, as work may be cut anywhere; beyond the forecast one "
            "week's level stands for months.",
        ),
        links=prose(
            Link("What-if plans", "guides/plans.md"),
        ),
    ),
    AnswerMethod(
        name="portfolio",
        title="Portfolio",
        pages=("/portfolio",),
        inputs=prose(
            "hourly demand of 90 days or a file, prices on record, commitments in force or "
            "signed, quotas, budget, the share that ran on spot or saved checkpoints; growth "
            "as stated, or of the forecast by the day.",
        ),
        how=prose(
            "least mean and tail cost over scenarios, by cutting planes; whole lots; "
            "marginal values, a ladder. Held against the look-back rule and the newsvendor "
            "on the own history: the cheapest of them answers. Terms of over three times the "
            "history are bounded.",
        ),
        source=prose(
            "the newsvendor (Arrow, Harris and Marschak 1951), CVaR (Rockafellar and Uryasev "
            "2000), cutting planes (Kelley 1960), HiGHS.",
        ),
        weakness=prose(
            "families are drawn apart; what comes after the planned months is taken to use a "
            "longer commitment as well; that a cloud has nothing to sell is not known. A "
            "month of history tells little of a term of years.",
        ),
        links=prose(
            Link("Portfolio", "guides/portfolio.md"),
        ),
    ),
    AnswerMethod(
        name="crossover",
        title="Crossover",
        pages=("/crossover",),
        inputs=prose(
            "a service's counted tokens by hour, GPUs held and active, its ledger cost of a "
            "GPU-hour; prices of the API, people and ranges that somebody states.",
        ),
        how=prose(
            "whole replicas by load, headroom, lead and least, read off the hours; every "
            "volume at which the cheaper side changes, walked exactly; ranges drawn, and a "
            "tornado. Held against the ledger's figure, and against hours that its rule has "
            "not seen.",
        ),
        source=prose(
            "closed forms and brute force in the tests (",
            Code("tests/economics/test_crossover_*.py"),
            "); triangles by inversion.",
        ),
        weakness=prose(
            "throughput is what the fleet showed, not what a load test would; of a fleet "
            "that never scaled the headroom is an assumption; quality has no price.",
        ),
        links=prose(
            Link("Crossover", "guides/crossover.md"),
        ),
    ),
    AnswerMethod(
        name="train,-fine-tune-or-prompt",
        title="Train, fine-tune or prompt",
        pages=(),
        inputs=prose(
            "tokens of a request each way, prices of a million, one-time cost and its months "
            "of life, all stated in the scenario.",
        ),
        how=prose(
            "each way is a line over requests a month; the answer is their lower envelope.",
        ),
        source=prose(
            "elementary; the tests work it by hand.",
        ),
        weakness=prose(
            "every request is one mix, and all ways are taken to answer equally well.",
        ),
        links=prose(
            Link("Crossover", "guides/crossover.md"),
            ", ",
            Code("[[adaptations]]"),
        ),
    ),
    AnswerMethod(
        name="budgets",
        title="Budgets",
        pages=("/budgets",),
        inputs=prose(
            "effective cost or GPU-hours so far, the newest forecasts of the rest, "
            "commitments in force, approved requests.",
        ),
        how=prose(
            "so far + rest expected, against the budget; the rest is a total of sample "
            "paths, of several series the sum of theirs; a run rate of 28 days where nothing "
            "is forecast.",
        ),
        source=prose(
            "sample paths; for several series the comonotonic bound (Dhaene, Denuit, "
            "Goovaerts, Kaas and Vyncke 2002).",
        ),
        weakness=prose(
            "the interval is too wide where series err apart; charges that a bill puts on "
            "one hour of a month are in no rest.",
        ),
        links=prose(
            Link("Budgets", "guides/budgets.md"),
        ),
    ),
)
