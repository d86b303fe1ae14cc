"""A crossover's answer as lines for a terminal."""

from collections.abc import Iterator, Sequence

from apps.economics.crossover.answer import CrossoverAdvice, CrossoverAnswer, CrossoverQuestion
from apps.economics.crossover.uncertainty import SavingsRange, SpreadOfThree
from apps.planning.queries.service_hours import ServiceMeasurement
from apps.show.text_columns import aligned_columns

ADVICE = {
    CrossoverAdvice.SELF_HOST: "serve it yourself",
    CrossoverAdvice.API: "buy it from the API",
    CrossoverAdvice.TOO_CLOSE: "too close to call",
}
NOWHERE = "nowhere"
MILLE = 1_000


def answer_lines(question: CrossoverQuestion, answer: CrossoverAnswer) -> Iterator[str]:
    """The answer for people, a section at a time."""
    scenario = question.scenario
    yield f"{scenario.name}: {ADVICE[answer.advice]}"
    yield f"{scenario.currency} a month, on prices of {scenario.on}; {'; '.join(answer.reasons)}"
    for title, rows in _sections(answer):
        yield ""
        yield title
        yield from aligned_columns(rows)
    for risk in answer.risks:
        yield f"! {risk}"


def measured_lines(measurement: ServiceMeasurement, currency: str) -> Iterator[str]:
    """Yield lines of what was measured, and how far the model of it is from the ledger."""
    measured, window = measurement.service, measurement.window
    (pool,) = measured.hosting.pools
    hours = f"{measured.hours:,} hours from {window.first_day} to {window.end_day}"
    yield f"{measurement.name}, {currency} of the ledger: {hours}"
    if measurement.changed_at is not None:
        at = f"{measurement.changed_at:%Y-%m-%d %H:%M} UTC"
        yield f"! its fleet changed at {at}: what was before is left out"
    yield from aligned_columns(
        [
            ("a million tokens by the ledger", _price(measured.ledger_per_million)),
            ("by the model of its replicas", _price(measured.modelled_per_million)),
            ("difference", f"{measured.difference_ratio:+.1%}"),
            ("second half, by the rule of the first", _signed(measured.unseen_ratio)),
            ("a month at this rate", _volume(measured.demand.million_tokens)),
            ("prompts, of all tokens", _part(measured.demand.input_share)),
            ("prompts found in the cache", _part(measured.hosting.cached_share)),
            ("GPUs of a replica", _figure(pool.gpus)),
            ("a GPU-hour, fully loaded", _price(pool.gpu_hour)),
            ("prompt tokens a second", _figure(pool.input_tokens_per_second or 0.0)),
            ("output tokens a second", _figure(pool.output_tokens_per_second or 0.0)),
            ("least replicas", str(pool.least_replicas)),
            ("headroom", _part(pool.headroom)),
            ("hours of lead", "not scaled" if pool.lead_hours is None else str(pool.lead_hours)),
        ]
    )
    yield ""


def _sections(answer: CrossoverAnswer) -> Iterator[tuple[str, list[Sequence[str]]]]:
    costs = answer.costs
    yield (
        f"At {_volume(costs.million_tokens)}",
        [
            ("", "self-host", "API", "saved"),
            ("cost", _money(costs.self_host_month), _money(costs.api_month),
             _money(costs.savings_month) if costs.is_served else "cannot be served"),
            ("of a million tokens", _price(costs.self_host_per_million),
             _price(costs.api_per_million)),
            *((f"  {name}", _money(part)) for name, part in costs.self_host_parts.items() if part),
        ],
    )  # fmt: skip
    yield "Replicas", _replica_rows(answer)
    yield "Break-even", _break_even_rows(answer)
    if answer.uncertainty is not None:
        yield "Over all draws (P10, P50, P90)", _range_rows(answer.uncertainty)
        yield "What matters most: saved at the lowest and the highest of", _tornado_rows(answer)
    if answer.must_be_true:
        yield "What must be true, each by itself", _needed_rows(answer)
    if answer.levers:
        yield "Levers", _lever_rows(answer)
    if answer.cheapest_ways:
        rows = [(f"from {way.requests:,.0f} requests", way.name) for way in answer.cheapest_ways]
        yield "Train, fine-tune or prompt: cheapest", [*rows]


def _replica_rows(answer: CrossoverAnswer) -> list[Sequence[str]]:
    rows = [
        (
            pool.name,
            str(pool.least_replicas),
            f"{pool.mean_replicas:.1f}",
            str(pool.most_replicas),
            _part(pool.utilization),
        )
        for pool in answer.costs.pools
    ]
    return [("pool", "least", "mean", "most", "utilization"), *rows]


def _break_even_rows(answer: CrossoverAnswer) -> list[Sequence[str]]:
    search, months = answer.search, answer.months_until_durable
    rows = [
        ("first cheaper at", _volume_or_nowhere(search.first)),
        ("break-even volume", _volume_or_nowhere(search.durable)),
        ("reached in", "not by this growth" if months is None else f"{months:.1f} months"),
        ("utilization needed", _part(answer.break_even_utilization)),
        ("a further million at scale", _price(answer.cost_at_scale)),
    ]
    crossings = (
        (f"from {_volume(one.million_tokens)}", one.cheaper.replace("_", "-"))
        for one in search.crossings
    )
    return [*rows, *crossings]


def _range_rows(spread: SavingsRange) -> list[Sequence[str]]:
    return [
        ("saved", *_three(spread.savings)),
        ("first break-even", *_three(spread.first_break_even)),
        ("durable break-even", *_three(spread.durable_break_even)),
    ]


def _tornado_rows(answer: CrossoverAnswer) -> list[Sequence[str]]:
    return [
        (bar.name, _money(bar.savings_at_low), _money(bar.savings_at_high))
        for bar in answer.tornado
    ]


def _needed_rows(answer: CrossoverAnswer) -> list[Sequence[str]]:
    return [
        (one.name, f"{'at least' if one.at_least else 'at most'} {_figure(one.needed)}",
         f"now {_figure(one.now)}")
        for one in answer.must_be_true
    ]  # fmt: skip


def _lever_rows(answer: CrossoverAnswer) -> list[Sequence[str]]:
    rows = [
        (
            lever.name,
            _money(lever.self_host_month),
            _money(lever.api_month),
            _volume_or_nowhere(lever.durable),
        )
        for lever in answer.levers
    ]
    return [("", "self-host", "API", "break-even volume"), *rows]


def _three(spread: SpreadOfThree) -> tuple[str, ...]:
    return tuple(
        NOWHERE if value is None else _money(value)
        for value in (spread.p10, spread.p50, spread.p90)
    )


def _money(amount: float) -> str:
    return f"{amount:,.0f}"


def _price(amount: float | None) -> str:
    return "undefined" if amount is None else f"{amount:,.4f}"


def _figure(value: float) -> str:
    """Four digits that count, and no power of ten."""
    return _money(value) if abs(value) >= MILLE else f"{value:.4g}"


def _part(ratio: float | None) -> str:
    return "undefined" if ratio is None else f"{ratio:.1%}"


def _signed(ratio: float | None) -> str:
    return "too few hours" if ratio is None else f"{ratio:+.1%}"


def _volume(million_tokens: float) -> str:
    return f"{million_tokens:,.0f} million tokens"


def _volume_or_nowhere(million_tokens: float | None) -> str:
    return NOWHERE if million_tokens is None else _volume(million_tokens)
