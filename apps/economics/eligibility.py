"""Which use a commitment may cover beside where and of which machine it is: how that use was bought.

AWS: reservations and Savings Plans apply to on-demand use, never to Spot ("Savings Plans do not apply to
Spot usage"; "How Reserved Instance discounts are applied", EC2 User Guide), nor to Capacity Blocks, which
are paid ahead. Regional reservations and Savings Plans apply to on-demand capacity reservations, used or
not; zonal reservations do not. A reservation is of a platform and a tenancy; one of default tenancy
covers no dedicated machine. Within an organisation they cover other accounts unless sharing is off.
Google Cloud: committed-use discounts apply to no Spot or preemptible VM. Azure: reservations and savings
plans apply to no Spot VM. As of 2026-11.
"""

from dataclasses import dataclass
from enum import StrEnum

from apps.economics.purchase import PurchaseOption

NEVER_COVERED = frozenset({PurchaseOption.SPOT, PurchaseOption.OWNED})
DEFAULT = "default"


class Capacity(StrEnum):
    """How the capacity that a machine runs in was secured."""

    NONE = ""
    RESERVATION = "reservation"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class UseTerms:
    """How a machine's use was bought; an empty text is not known."""

    purchase_option: str = PurchaseOption.ON_DEMAND
    capacity: str = Capacity.NONE
    platform: str = ""
    tenancy: str = ""
    account: str = ""


@dataclass(frozen=True, slots=True)
class CommitmentTerms:
    """What use a commitment is for; an empty text does not matter, or is not known.

    `is_shared`: it covers use of other accounts of its organisation too. `is_block`: it is a capacity
    block, which covers what runs in it alone.
    """

    platform: str = ""
    tenancy: str = ""
    account: str = ""
    is_shared: bool = True
    is_block: bool = False


ON_DEMAND = UseTerms()
ANY_TERMS = CommitmentTerms()


def may_cover(terms: CommitmentTerms, use: UseTerms, *, is_zonal: bool = False) -> bool:
    """Whether use bought so may be covered; what is not known on a side is taken to fit.

    `is_zonal`: a reservation of a zone, which holds its own capacity.
    """
    if use.purchase_option in NEVER_COVERED:
        return False
    if (use.capacity == Capacity.BLOCK) and not terms.is_block:
        return False
    if is_zonal and use.capacity == Capacity.RESERVATION:
        return False
    if not terms.is_shared and _differ(terms.account, use.account):
        return False
    return not (_differ(terms.platform, use.platform) or _differ(terms.tenancy, use.tenancy))


def _differ(wanted: str, found: str) -> bool:
    return bool(wanted and found) and wanted.lower() != found.lower()
