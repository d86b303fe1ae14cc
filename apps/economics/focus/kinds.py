"""The kind of cost that a bill's row pays for, read off what its provider says about it."""

import re
from functools import lru_cache
from typing import NamedTuple

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
    r"transfer|bandwidth|egress|ingress|NAT ?gateway|load ?balanc|\bvpc\b|IdleAddress|"
    r"(elastic|external|static|public|reserved) ?ip(v[46])?(s|\b)|\bip ?(address|charge)",
    re.IGNORECASE,
)
# AWS bills software of its marketplace, by the hour of a machine, as SoftwareUsage.
LICENCES = re.compile(
    r"licen[cs]e|licencia|subscription fee|\bRHEL\b|marketplace|\bSoftwareUsage\b", re.IGNORECASE
)
# Bursting of a machine beyond its size is billed by the hour of a core, with the machine's id.
CPU_CREDITS = re.compile(r"cpu ?credits?", re.IGNORECASE)
# AWS: an on-demand capacity reservation (UnusedBox), on dedicated hosts (UnusedDed).
UNUSED_CAPACITY = re.compile(r"\bUnused(Box|Ded)\b", re.IGNORECASE)
TIMES = re.compile(
    r"\b(h|hr|hrs|hours?|seconds?|sec|minutes?)\b|[a-z]+[- ]?hours?\b", re.IGNORECASE
)


# FOCUS's categories of services that never are a machine's own time; "Other" says nothing.
BESIDE_MACHINES = frozenset(
    {
        *("analytics", "business applications", "databases", "developer tools", "multicloud"),
        *("identity", "integration", "internet of things", "management and governance", "media"),
        *("migration", "mobile", "networking", "security", "storage", "web"),
    }
)
# What is billed with a machine's id and is not its time, by what its service or its usage type is called.
BESIDE = re.compile(
    r"bytes?\b|\b[kmgtp]i?b\b|request|transfer|traffic|iops|throughput|snapshot|volume|disk|storage|"
    r"file ?system|backup|address|\bip(v[46])?s?\b|bandwidth|gateway|balancer|\bvpn\b|\bdns\b|"
    r"support|watch|monitor|metric|alarm|\blog(s|ging)?\b|inspect|scan|guard|security|defend|patch|"
    r"management|systems manager|optimizer|credit|token|database|map ?reduce|\bfees?\b",
    re.IGNORECASE,
)
MACHINES = re.compile(
    r"elastic compute cloud|\bec2\b|compute engine|virtual machine|(box|spot|dedicated|host) ?usage|"
    r"\b(gpu|vm|instance|machine|bare ?metal|node|server)s?\b",
    re.IGNORECASE,
)
_CARRIER = r"(v?gpu|v?cpu|v?core|vm|instance|machine|node|server|host|accelerator|card|device)s?"
_TIME = (
    r"(h|hrs?|hours?|mins?|minutes?|s|secs?|seconds?|d|days?|wks?|weeks?|mon|mos?|mths?|months?|"
    r"yrs?|years?)"
)
OF_MACHINES = re.compile(
    rf"({_CARRIER})?{_TIME}|{_CARRIER}|[a-z]{{1,3}}\d+[a-z]?|units?|quantity|qty|each|per|virtual|"
)
"""A word of a unit that says no more than machines, models and time: `gpu_hour`, `1/Month`, `h100-days`."""


class ServiceDescription(NamedTuple):
    """A row's words about its service; `usage_type` is its meter, else its type of resource."""

    category: str
    usage_type: str
    description: str
    name: str = ""


def may_be_time(charge_category: str, service: ServiceDescription, unit: str) -> bool:
    """Whether a row of a machine pays for the machine's own time.

    It does unless something says otherwise: a unit of something else, a category of FOCUS or a name
    for what is beside machines. A row without a unit, and one of a category that FOCUS has not, are
    the machine's; of FOCUS's "Other" are those whose name or usage type says machines.
    """
    if charge_category.lower() != "usage" or _attached_kind(service, unit):
        return False
    category = service.category.lower()
    if category in BESIDE_MACHINES or not _is_unit_of_machines(unit):
        return False
    named = f"{service.name} {service.usage_type}".replace("_", " ")
    if BESIDE.search(f"{service.category} {named}"):
        return False
    return category != "other" or MACHINES.search(named) is not None


@lru_cache(maxsize=4_096)
def _is_unit_of_machines(unit: str) -> bool:
    words = re.findall(r"[a-z0-9]+", unit.lower().replace("(s)", ""))
    return all(OF_MACHINES.fullmatch(word.lstrip("0123456789")) for word in words)


@lru_cache(maxsize=65_536)
def kind_of(
    charge: tuple[str, str, bool],
    service: ServiceDescription,
    unit: str,
    capacity: str = "",
    *,
    is_of_machine: bool = False,
) -> str:
    """The kind of a row's cost.

    `charge` is its category, commitment status and whether it is of a commitment; `unit` what it is
    priced by; `capacity` the status of the capacity reservation that it is of; `is_of_machine`
    whether its resource id is spelt as a cloud spells those of machines.
    Compute is what is priced by time on a compute service, and what a machine's id is billed for
    unless something says otherwise (`may_be_time`): a machine's traffic and disks replace nobody's
    estimate.
    """
    category, status, is_of_commitment = charge
    of_category = BY_CATEGORY.get(category.lower())
    if of_category is not None:
        return of_category
    if status.lower() == "unused" or (category.lower() == "purchase" and is_of_commitment):
        return COMMITMENT
    if capacity.lower() == "unused" or UNUSED_CAPACITY.search(service.usage_type):
        return CAPACITY
    if attached_kind := _attached_kind(service, unit):
        return attached_kind
    is_burst = CPU_CREDITS.search(f"{service.usage_type} {service.description}")
    is_timed = service.category.lower() in COMPUTING and TIMES.search(unit) and not is_burst
    is_time = is_timed or (is_of_machine and may_be_time(category, service, unit))
    return COMPUTE if is_time else OTHER


def _attached_kind(service: ServiceDescription, unit: str) -> str:
    """The kind of what is attached to machines; empty where nothing says that it is."""
    text = f"{service.usage_type} {service.description}"
    if LICENCES.search(text):
        return LICENCE
    if service.category.lower() == "storage" or DISKS.search(f"{service.usage_type} {unit}"):
        return DISK
    if service.category.lower() == "networking" or NETWORKS.search(text):
        return NETWORK
    return ""
