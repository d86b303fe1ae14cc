"""How capacity can be bought; each option has its own price and its own risk."""

from enum import StrEnum


class PurchaseOption(StrEnum):
    """The word a pool and its rates share."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    RESERVED = "reserved"
    OWNED = "owned"


PAID_BY_THE_HOUR = frozenset({PurchaseOption.ON_DEMAND, PurchaseOption.SPOT})
"""What is given back is paid no more. Reserved and owned capacity is paid whether it is used or not."""
