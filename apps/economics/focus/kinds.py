"""What a bill's row pays for, read off what its provider says about it."""

import re
from functools import lru_cache

COMPUTE, DISK, NETWORK, LICENCE = "compute", "disk", "network", "licence"
OTHER, COMMITMENT, CREDIT, TAX = "other", "commitment", "credit", "tax"
CAPACITY = "capacity"
"""A reservation of machines that nobody ran in: no machine's time, whatever machine it would have been."""
KINDS = (COMPUTE, DISK, NETWORK, LICENCE, OTHER, COMMITMENT, CREDIT, TAX, CAPACITY)

BY_CATEGORY = {"tax": TAX, "credit": CREDIT}
COMPUTING = frozenset({"compute", "ai and machine learning"})
DISKS = re.compile(
    r"\bEBS\b|volume|snapshot|disk|\bPD\b|GB[- ]?Mo|GiB[- ]?Mo|gibibyte[ -]month", re.IGNORECASE
)
NETWORKS = re.compile(
    r"transfer|bandwidth|egress|ingress|NAT ?gateway|load ?balanc|\bvpc\b|elastic ?ip|"
    r"IdleAddress|PublicIPv4",
    re.IGNORECASE,
)
# AWS bills software of its marketplace, by the hour of a machine, as SoftwareUsage.
LICENCES = re.compile(
    r"licen[cs]e|licencia|subscription fee|\bRHEL\b|marketplace|\bSoftwareUsage\b", re.IGNORECASE
)
# AWS: an on-demand capacity reservation (UnusedBox), on dedicated hosts (UnusedDed).
UNUSED_CAPACITY = re.compile(r"\bUnused(Box|Ded)\b", re.IGNORECASE)
TIMES = re.compile(
    r"\b(h|hr|hrs|hours?|seconds?|sec|minutes?)\b|[a-z]+[- ]?hours?\b", re.IGNORECASE
)


@lru_cache(maxsize=65_536)
def kind_of(
    charge: tuple[str, str, bool], service: tuple[str, str, str], unit: str, capacity: str = ""
) -> str:
    """The kind of a row's cost.

    `charge` is its category, commitment status and whether it names a commitment; `service` its
    category, type (resource type or usage type) and description; `unit` what it is priced by;
    `capacity` the status of the capacity reservation that it is of.
    Compute is what is priced by time on a compute service: a machine's traffic and disks are
    billed on the same service, and replace nobody's estimate.
    """
    category, status, is_of_commitment = charge
    of_category = BY_CATEGORY.get(category.lower())
    if of_category is not None:
        return of_category
    if status.lower() == "unused" or (category.lower() == "purchase" and is_of_commitment):
        return COMMITMENT
    if capacity.lower() == "unused" or UNUSED_CAPACITY.search(service[1]):
        return CAPACITY
    return _kind_of_usage(service, unit)


def _kind_of_usage(service: tuple[str, str, str], unit: str) -> str:
    of_service, usage_type, description = service
    said = f"{usage_type} {description}"
    if LICENCES.search(said):
        return LICENCE
    if of_service.lower() == "storage" or DISKS.search(f"{usage_type} {unit}"):
        return DISK
    if of_service.lower() == "networking" or NETWORKS.search(said):
        return NETWORK
    is_computing = of_service.lower() in COMPUTING
    return COMPUTE if is_computing and TIMES.search(unit) else OTHER
