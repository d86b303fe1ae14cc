"""Assignment of a bill's rows: what they pay for, to which node they go, and how long rows reach over its hours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from apps.economics.bases import Amounts, BilledCosts, split_bases
from apps.economics.focus.kinds import CAPACITY, COMMITMENT, COMPUTE, CREDIT, OTHER, TAX
from apps.economics.machine_ids import cloud_of_id, machine_keys
from apps.economics.sharing import METHODS
from apps.economics.split import NothingToSplitBy, largest_remainder


class ChargeKindOfRow(StrEnum):
    """The kind of charge that a row becomes; the ledger knows it by the same word."""

    NODE_HOUR = "node_hour"
    UNMATCHED = "unmatched"
    SERVICE = "service"
    PURCHASE = "purchase"
    COMMITMENT_UNUSED = "commitment_unused"
    CREDIT = "credit"
    TAX = "tax"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Traits:
    """All that decides where a row's cost goes.

    `may_be_time`: whether, were it of a machine, it would pay for that machine's time.
    """

    kind: str
    category: str
    commitment_status: str
    issuer: str
    service: str
    usage_type: str
    resource_id: str
    sub_account: str
    tags: Mapping[str, str]
    may_be_time: bool = False


@dataclass(frozen=True, slots=True)
class BillRowRule:
    """A rule of what somebody said of rows that do not say it themselves; an empty pattern fits all.

    `share_method`, of `apps.economics.sharing.METHODS`, makes a shared cost of them.
    """

    id: int
    issuer: str = ""
    service: str = ""
    usage_type: str = ""
    resource_id: str = ""
    sub_account: str = ""
    tag_key: str = ""
    tag_value: str = ""
    kind: str = ""
    node_id: int | None = None
    pool_id: int | None = None
    team_id: int | None = None
    share_method: str = ""

    def fits(self, traits: Traits) -> bool:
        """Whether every pattern does; case does not matter."""
        pairs = (
            (self.issuer, traits.issuer),
            (self.service, traits.service),
            (self.usage_type, traits.usage_type),
            (self.resource_id, traits.resource_id),
            (self.sub_account, traits.sub_account),
        )
        if not all(
            fnmatchcase(text.lower(), pattern.lower()) for pattern, text in pairs if pattern
        ):
            return False
        if not self.tag_key:
            return True
        tag_value = traits.tags.get(self.tag_key)
        return tag_value is not None and fnmatchcase(
            tag_value.lower(), (self.tag_value or "*").lower()
        )

    @property
    def shared_as(self) -> str:
        """The name of a shared cost of the rule's rows: the first pattern that says anything."""
        tag = f"{self.tag_key}={self.tag_value}" if self.tag_key else ""
        patterns = (
            self.service,
            self.usage_type,
            self.resource_id,
            tag,
            self.sub_account,
            self.issuer,
        )
        plain = (text.strip("*?= ") for text in patterns)
        return next((text for text in plain if text), "rows of bills")


@dataclass(frozen=True, slots=True)
class Places:
    """Nodes by provider id and name, pools by instance type, teams by name: only what is unique.

    What names a node has the lives that it had one after the other, by their ids in order; so has
    each node that a rule names. All names are in lower case. `of_clouds` are the nodes as rows mean
    them that name a machine of that cloud: one of another cloud that bears its name is not meant.
    """

    nodes: Mapping[str, tuple[int, ...]]
    pools: Mapping[str, int]
    teams: Mapping[str, int]
    lives: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    of_clouds: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)

    def nodes_for(self, resource_id: str) -> Mapping[str, tuple[int, ...]]:
        """Nodes by what may name them in a row of this resource."""
        return self.of_clouds.get(cloud_of_id(resource_id), self.nodes)


@dataclass(frozen=True, slots=True)
class BillMatch:
    """Where a row goes: to a node, over the nodes of a pool, or into a charge of its own.

    A charge of its own with a node is carried by whoever carries that node's time, a shared one by
    whoever is there in each hour of its month. `lives` are all
    nodes that were called so one after the other, where that is more than one: a row is of the one
    that lived in its time.
    """

    kind: str
    becomes: ChargeKindOfRow
    node_id: int | None = None
    pool_id: int | None = None
    team_id: int | None = None
    reason: str = ""
    label: str = ""
    by: str = ""
    rule_id: int | None = None
    lives: tuple[int, ...] = ()
    share_method: str = ""


NODE_TAGS = ("name", "hostname", "node", "kubernetes.io/hostname")
TEAM_TAG = "team"
NO_RESOURCE = "the bill names no resource"
NO_NODE = "no node has this resource id"
NOT_USED = "capacity that was reserved and that nobody ran in"
FEE = "a fee of its own"
NOT_COMPUTE = "billed beside the machines"
WITH_NODE = "billed with its node, and carried like its time"
OF_ITS_KIND = {
    TAX: (ChargeKindOfRow.TAX, "tax"),
    CREDIT: (ChargeKindOfRow.CREDIT, "credit"),
}


def match(traits: Traits, rules: Sequence[BillRowRule], places: Places) -> BillMatch:
    """Where rows of these traits go: by rule, then resource id, then tags, then usage type.

    `rules` are in order; the first that fits wins, and what it leaves open is found as ever.
    """
    rule = next((candidate for candidate in rules if candidate.fits(traits)), None)
    kind = (rule.kind if rule else "") or _resolved_kind(traits, places)
    team_id = (rule.team_id if rule else None) or _team_of_tag(traits, places)
    by, rule_id = ("", None) if rule is None else (f"rule {rule.id}", rule.id)
    if rule is not None and rule.share_method and _may_be_shared(kind, traits, places):
        method = rule.share_method
        return BillMatch(
            kind,
            ChargeKindOfRow.SHARED,
            reason=f"shared {METHODS[method]}",
            label=rule.shared_as,
            by=by,
            rule_id=rule_id,
            share_method=method,
        )
    if rule is not None and (rule.node_id or rule.pool_id) and kind == COMPUTE:
        node_ids = _node_lifetimes_of_rule(rule, places)
        carried = (node_ids[0] if node_ids else None, rule.pool_id, team_id)
        return BillMatch(
            kind,
            ChargeKindOfRow.NODE_HOUR,
            *carried,
            by=by,
            rule_id=rule_id,
            lives=_if_several(node_ids),
        )
    if kind == CAPACITY:
        label = traits.resource_id or traits.usage_type or traits.service
        return BillMatch(
            kind, ChargeKindOfRow.SERVICE, None, None, team_id, NOT_USED, label, by, rule_id
        )
    if kind != COMPUTE:
        becomes, reason = _non_compute_charge(kind, traits)
        named = _attached_node(becomes, rule, traits, places)
        if named is not None:
            node_ids, found_by = named
            words = (WITH_NODE, traits.service, by or found_by)
            several = _if_several(node_ids)
            return BillMatch(kind, becomes, node_ids[0], None, None, *words, rule_id, several)
        pool_id = rule.pool_id if rule else None
        return BillMatch(kind, becomes, None, pool_id, team_id, reason, traits.service, by, rule_id)
    compute_match = _compute_match(traits, places)
    if compute_match is not None:
        return compute_match
    reason = NO_NODE if traits.resource_id else NO_RESOURCE
    label = traits.resource_id or traits.usage_type or traits.service
    return BillMatch(
        kind, ChargeKindOfRow.UNMATCHED, None, None, team_id, reason, label, by, rule_id
    )


def spread(costs: BilledCosts, weights: Sequence[int]) -> list[BilledCosts]:
    """A row over node-hours by weight: every basis sums exactly, and each part keeps their order.

    Evenly where no weight is above zero. Refuses NothingToSplitBy where there is no node-hour.
    """
    if not weights:
        raise NothingToSplitBy("there is no hour to spread over")
    by = list(weights) if any(weights) else [1] * len(weights)
    parts = split_bases(Amounts(costs.listed, costs.contracted, costs.effective), by)
    billed = largest_remainder(costs.billed, by) if costs.billed is not None else [None] * len(by)
    return [BilledCosts(*part, paid) for part, paid in zip(parts, billed, strict=True)]


def _may_be_shared(kind: str, traits: Traits, places: Places) -> bool:
    """Not what pays for a machine on record, nor what is of a commitment.

    Their estimates stand until a bill takes their place: beside a shared cost they would count twice.
    """
    return kind != COMMITMENT and (kind != COMPUTE or _compute_match(traits, places) is None)


def _node_lifetimes_of_rule(rule: BillRowRule, places: Places) -> tuple[int, ...]:
    return places.lives.get(rule.node_id, (rule.node_id,)) if rule.node_id else ()


def _if_several(node_ids: tuple[int, ...]) -> tuple[int, ...]:
    return node_ids if len(node_ids) > 1 else ()


def _team_of_tag(traits: Traits, places: Places) -> int | None:
    team_name = next((text for key, text in traits.tags.items() if key.lower() == TEAM_TAG), "")
    return places.teams.get(team_name.lower())


def _non_compute_charge(kind: str, traits: Traits) -> tuple[ChargeKindOfRow, str]:
    """Return what a row that is not compute becomes: a charge of its own, of a kind that says what it is."""
    if kind in OF_ITS_KIND:
        return OF_ITS_KIND[kind]
    if kind == COMMITMENT and traits.commitment_status.lower() == "unused":
        return ChargeKindOfRow.COMMITMENT_UNUSED, "commitment nobody used"
    if kind == COMMITMENT:
        return ChargeKindOfRow.PURCHASE, "purchase"
    # A fee of no commitment (support, say) pays for its own period and covers no later use.
    return ChargeKindOfRow.SERVICE, FEE if traits.category == "Purchase" else NOT_COMPUTE


def _attached_node(
    becomes: ChargeKindOfRow, rule: BillRowRule | None, traits: Traits, places: Places
) -> tuple[tuple[int, ...], str] | None:
    """The node that a row beside its time follows, and by what; what a rule says goes first.

    Not what is of a commitment, which names what it covers and follows its owner.
    """
    if (
        becomes in (ChargeKindOfRow.COMMITMENT_UNUSED, ChargeKindOfRow.PURCHASE)
        and traits.kind == COMMITMENT
    ):
        return None
    if rule is not None and (rule.node_id or rule.pool_id or rule.team_id):
        node_ids = _node_lifetimes_of_rule(rule, places)
        return (node_ids, "") if node_ids else None
    return _node_named(traits, places)


def _resolved_kind(traits: Traits, places: Places) -> str:
    """The kind of a row: what may be a machine's time is where its resource, or its type, is on record."""
    if traits.kind != OTHER or not traits.may_be_time:
        return traits.kind
    is_ours = _node_of_resource(traits, places) or _pool_of_type(traits, places)
    return COMPUTE if is_ours else OTHER


def _node_of_resource(traits: Traits, places: Places) -> tuple[int, ...]:
    nodes = places.nodes_for(traits.resource_id)
    return next((nodes[key] for key in machine_keys(traits.resource_id) if key in nodes), ())


def _node_named(traits: Traits, places: Places) -> tuple[tuple[int, ...], str] | None:
    if node_ids := _node_of_resource(traits, places):
        return node_ids, "resource id"
    nodes = places.nodes_for(traits.resource_id)
    for key, text in traits.tags.items():
        if key.lower() in NODE_TAGS and text.lower() in nodes:
            return nodes[text.lower()], f"tag {key}"
    return None


def _compute_match(traits: Traits, places: Places) -> BillMatch | None:
    named = _node_named(traits, places)
    if named is not None:
        node_ids, by = named
        several = _if_several(node_ids)
        return BillMatch(COMPUTE, ChargeKindOfRow.NODE_HOUR, node_ids[0], by=by, lives=several)
    pool_id = _pool_of_type(traits, places)
    if pool_id is not None:
        return BillMatch(COMPUTE, ChargeKindOfRow.NODE_HOUR, None, pool_id, by="usage type")
    return None


def _pool_of_type(traits: Traits, places: Places) -> int | None:
    """The one pool whose machines the usage type of a row without a resource names."""
    if traits.resource_id:
        return None
    usage_type = traits.usage_type.lower()
    pools = {pool_id for name, pool_id in places.pools.items() if name in usage_type}
    return pools.pop() if len(pools) == 1 else None
