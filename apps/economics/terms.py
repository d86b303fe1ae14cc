"""Monthly and term amounts, hour by hour."""


class HourOutsideTerm(ValueError):
    """The term has no such hour."""


def term_amount_in_hour(total: int, hours: int, k: int) -> int:
    """Micro-units of hour `k` (from 0) when `total` is spread over `hours`; they sum to `total`."""
    if not 0 <= k < hours:
        raise HourOutsideTerm(f"hour {k} is outside a term of {hours} hours")
    return total * (k + 1) // hours - total * k // hours
