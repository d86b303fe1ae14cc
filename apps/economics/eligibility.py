"""The use that a commitment may cover, by how it was bought, beside where and of which machine it is.

AWS: reservations and Savings Plans apply to on-demand use, never to Spot ("Savings Plans do not apply to
Spot usage"; "How Reserved Instance discounts are applied", EC2 User Guide), nor to Capacity Blocks, which
are paid ahead. Regional reservations and Savings Plans apply to on-demand capacity reservations, used or
not; zonal reservations do not. A reservation is of a platform and a tenancy; Savings Plans apply to all,
at a price of each. Within an organisation they cover other accounts, after their owner, unless sharing is
off. Google Cloud: committed-use discounts apply to no Spot or preemptible VM, whatever runs on it (licences
are bought apart), in one project or, where that is switched on, in all of a billing account. Azure:
reservations and savings plans apply to no Spot VM and to the machine alone, whatever runs on it; in all
subscriptions, in one, or in one resource group of it. As of 2026-11.
"""

from dataclasses import dataclass
from enum import StrEnum

from apps.economics.purchase import PurchaseOption
from apps.economics.use_terms import DEFAULT_PLATFORM, DEFAULT_TENANCY

NEVER_COVERED = frozenset({PurchaseOption.SPOT, PurchaseOption.OWNED})


class Capacity(StrEnum):
    """How the capacity that a machine runs in was secured."""

    NONE = ""
    RESERVATION = "reservation"
    BLOCK = "block"


class Untold(StrEnum):
    """A fact of a machine that was not told, and for which its vendor's default was taken."""

    PLATFORM = "platform"
    TENANCY = "tenancy"
    ACCOUNT = "account"
    RESERVATION = "reservation"


@dataclass(frozen=True, slots=True)
class UseTerms:
    """How a machine's use was bought; an empty text is not known.

    `account` is an AWS account, a project, or a subscription and a resource group of it with a stroke
    between; `reservation` the capacity reservation, or the block, that it runs in.
    """

    purchase_option: str = PurchaseOption.ON_DEMAND
    capacity: str = Capacity.NONE
    platform: str = ""
    tenancy: str = ""
    account: str = ""
    reservation: str = ""


@dataclass(frozen=True, slots=True)
class CommitmentTerms:
    """The terms of a commitment: the use it is for; an empty text does not matter, or is not known.

    `is_shared`: it covers use of other accounts of its organisation too. `is_block`: it is a capacity
    block, which covers what runs in it alone. `has_platform`: it is of one platform and one tenancy, as
    AWS's reservations are; one that does not say which is of the defaults.
    """

    platform: str = ""
    tenancy: str = ""
    account: str = ""
    is_shared: bool = True
    is_block: bool = False
    reservation: str = ""
    has_platform: bool = False


ON_DEMAND = UseTerms()
ANY_TERMS = CommitmentTerms()


def may_cover(terms: CommitmentTerms, use: UseTerms, *, is_zonal: bool = False) -> bool:
    """Whether use bought so may be covered; `taken_for_granted` names what of it was not known.

    `is_zonal`: a reservation of a zone, which holds its own capacity.
    """
    if use.purchase_option in NEVER_COVERED or not _is_capacity_covered(
        terms, use, is_zonal=is_zonal
    ):
        return False
    if not terms.is_shared and is_elsewhere(terms, use):
        return False
    platform, tenancy = platform_and_tenancy(terms)
    return platform in {"", use.platform or DEFAULT_PLATFORM} and tenancy in {
        "",
        use.tenancy or DEFAULT_TENANCY,
    }


def _is_capacity_covered(terms: CommitmentTerms, use: UseTerms, *, is_zonal: bool) -> bool:
    if terms.is_block:
        return not _differ(terms.reservation, use.reservation)
    if use.capacity == Capacity.BLOCK:
        return False
    return not (is_zonal and use.capacity == Capacity.RESERVATION)


def platform_and_tenancy(terms: CommitmentTerms) -> tuple[str, str]:
    """Those that its use has to have; empty where they do not matter."""
    if not terms.has_platform:
        return terms.platform, terms.tenancy
    return terms.platform or DEFAULT_PLATFORM, terms.tenancy or DEFAULT_TENANCY


def taken_for_granted(terms: CommitmentTerms, use: UseTerms) -> tuple[Untold, ...]:
    """Return the facts of a use that decide whether it is covered and were not told.

    A machine is then taken to be what its vendor launches by default: Linux on shared hardware, in the
    account that the commitment is of, and in the block where one of its type and zone is held.
    """
    platform, tenancy = platform_and_tenancy(terms)
    facts = (
        (Untold.PLATFORM, bool(platform) and not use.platform),
        (Untold.TENANCY, bool(tenancy) and not use.tenancy),
        (Untold.ACCOUNT, not terms.is_shared and bool(terms.account) and not use.account),
        (Untold.RESERVATION, terms.is_block and bool(terms.reservation) and not use.reservation),
    )
    return tuple(fact for fact, is_granted in facts if is_granted)


def is_elsewhere(terms: CommitmentTerms, use: UseTerms) -> bool:
    """Whether it is use of another account than the commitment's own, which comes first."""
    return bool(terms.account and use.account) and not is_within(use.account, terms.account)


def is_within(account: str, scope: str) -> bool:
    """Whether an account is the one, or a resource group of the subscription, that a scope names."""
    actual, wanted = account.lower(), scope.lower()
    return actual == wanted or actual.startswith(f"{wanted}/")


def _differ(wanted: str, actual: str) -> bool:
    return bool(wanted and actual) and wanted.lower() != actual.lower()
