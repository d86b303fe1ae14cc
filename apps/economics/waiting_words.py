"""The price of waiting in words, as every gate of what is there says it."""

from apps.economics.number_words import money_text, number_text, quantity_text

UNPRICED = "nobody said what waiting costs"


def hourly_price_words(price: float | None, currency: str) -> str:
    """Return the price of a GPU-hour of waiting in words; None: nobody said it."""
    return UNPRICED if price is None else f"at {money_text(price, currency)} an hour each"


def waiting_words(gpu_hours: float, cost: float | None, currency: str, *, beyond: str) -> str:
    """Return the GPU-hours that wait `beyond` what is there, and their cost, in words; None: nobody said what waiting costs."""
    hours = quantity_text(number_text(gpu_hours), "GPU-hours")
    priced = UNPRICED if cost is None else f"priced at {money_text(cost, currency)}"
    return f"{hours} beyond {beyond} wait, {priced}"
