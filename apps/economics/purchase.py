"""How capacity can be bought; each option has its own price and its own risk."""

from enum import StrEnum


class PurchaseOption(StrEnum):
    """The word a pool and its rates share."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    RESERVED = "reserved"
    OWNED = "owned"
