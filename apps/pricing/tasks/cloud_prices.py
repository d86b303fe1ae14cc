"""Reads the prices of what the pools use from a cloud, and enters those that changed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from apps.economics.places import lies_in
from apps.economics.purchase import PurchaseOption
from apps.fleet.actions import clouds
from apps.fleet.providers.aws import session
from apps.fleet.queries import pools
from apps.fleet.queries.clouds import CloudAccountFact
from apps.pricing import actions, queries
from apps.pricing.providers import aws

if TYPE_CHECKING:
    from apps.pricing.providers.gcp import MachinePrice as GooglePrice

KEPT_BY_AWS = timedelta(days=90)
AT_ONCE = timedelta(days=7)
Clock = Callable[[], datetime]
Zones = dict[str, Decimal]


@dataclass(slots=True)
class Tally:
    """What became of the prices read."""

    prices: int = 0
    unchanged: int = 0
    rejected: int = 0
    waiting: int = 0
    reasons: list[str] = field(default_factory=list)

    def add(self, loaded: actions.TableLoaded) -> None:
        """Count what was entered."""
        self.prices += loaded.imported
        self.unchanged += loaded.unchanged
        self.rejected += len(loaded.rejected)
        self.waiting += loaded.waiting
        self.reasons += [row.reason for row in loaded.rejected]

    def counts(self) -> dict[str, int]:
        """As they are kept with the sync."""
        return {"prices": self.prices, "unchanged": self.unchanged, "rejected": self.rejected}

    def note(self) -> str:
        """What was odd, in words."""
        said = []
        if self.reasons:
            said.append(f"{self.rejected} prices not taken: {self.reasons[0]}")
        if self.waiting:
            said.append(f"{self.waiting} prices wait for finance to decide")
        return "; ".join(said)


def _read_spot(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """A week at a time: AWS tells each page from the newest back, a price needs its end."""
    tally, at = Tally(), clock()
    cursor = dict(turn.cursor)
    asks = session(account.role_arn)
    for region, instance_type, places in _wanted(account, PurchaseOption.SPOT):
        key = f"{region}/{instance_type}"
        held = cursor.get(key, {})
        since = _moment(held.get("until")) or at - KEPT_BY_AWS
        zones = {zone: Decimal(amount) for zone, amount in held.get("zones", {}).items()}
        market = aws.spot_market(asks, region)
        while since < at:
            until = min(since + AT_ONCE, at)
            points = aws.spot_points(
                market, instance_type=instance_type, starts_at=since, ends_at=until
            )
            _enter(_spot_rates(points, places, zones), tally, clock())
            since = until
            kept = {zone: str(amount) for zone, amount in zones.items()}
            cursor[key] = {"until": until.isoformat(), "zones": kept}
            clouds.keep_page(turn=turn, cursor=cursor, counts=tally.counts(), at=clock())
    return tally.note()


def _read_on_demand(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    tally, cursor = Tally(), dict(turn.cursor)
    offered = aws.price_list(session(account.role_arn))
    for region, instance_type, places in _wanted(account, PurchaseOption.ON_DEMAND):
        key = f"{region}/{instance_type}"
        if key in cursor:
            continue
        prices = aws.on_demand_prices(offered, region=region, instance_type=instance_type)
        if len({price.amount for price in prices}) == 1:
            _enter(_on_demand_rates(prices[0], places), tally, clock())
        else:
            tally.rejected += 1
            tally.reasons.append(f"the price list has {len(prices)} prices for {key}")
        cursor[key] = clock().isoformat()
        clouds.keep_page(turn=turn, cursor=cursor, counts=tally.counts(), at=clock())
    # All of it was asked: the next time begins from the first again.
    clouds.keep_page(turn=turn, cursor={}, counts=tally.counts(), at=clock())
    return tally.note()


def _read_google(
    account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock, option: PurchaseOption
) -> str:
    """Google says only what holds now, on demand and preemptible alike."""
    from apps.pricing.providers import gcp  # six seconds to load, for accounts of Google only

    tally, wanted = Tally(), _wanted(account, option)
    asks = gcp.access()
    skus = gcp.compute_skus(asks) if wanted else []
    for region, instance_type, places in wanted:
        shapes = gcp.machine_shapes(asks, project=account.account, name=instance_type)
        price: gcp.MachinePrice | str = f"no zone of {region} has {instance_type}"
        for zone, shape in shapes.items():
            if zone.startswith(region):
                price = gcp.machine_price(shape, skus, region=region, purchase_option=option)
        if isinstance(price, str):
            tally.rejected += 1
            tally.reasons.append(f"{instance_type}: {price}")
        else:
            _enter(_google_rates(price, instance_type, places, option), tally, clock())
        clouds.keep_page(turn=turn, cursor={}, counts=tally.counts(), at=clock())
    return tally.note()


def _google_rates(
    price: "GooglePrice", instance_type: str, places: Iterable[str], option: PurchaseOption
) -> list[actions.NewRate]:
    return [
        actions.NewRate(
            kind=queries.RateKind.LIST,
            amount=price.amount,
            currency="USD",
            starts_at=price.begins_at,
            purchase_option=option,
            provider="gcp",
            region=place,
            instance_type=instance_type,
            source=f"Google Cloud SKUs {', '.join(price.skus)}",
            source_date=price.begins_at.date(),
        )
        for place in places
    ]


def _wanted(
    account: CloudAccountFact, option: PurchaseOption
) -> list[tuple[str, str, tuple[str, ...]]]:
    """(region, instance type, what pools call their region: it or a zone of it) to ask for."""
    found: dict[tuple[str, str], set[str]] = {}
    for pool in pools().values():
        # What machines cost on demand is the list price of those bought otherwise, too.
        is_asked = pool.purchase_option == option or (
            option is PurchaseOption.ON_DEMAND and pool.purchase_option in queries.DISCOUNTED
        )
        if pool.provider != account.provider or not is_asked:
            continue
        for region in account.regions:
            if pool.instance_type and lies_in(pool.region, region):
                found.setdefault((region, pool.instance_type), set()).add(pool.region)
    return [(*key, tuple(sorted(places))) for key, places in sorted(found.items())]


def _spot_rates(
    points: Sequence[aws.SpotPoint], places: Iterable[str], zones: Zones
) -> list[actions.NewRate]:
    """Each zone by its own points; a place without a zone by the dearest zone of the moment.

    `zones` are the prices that held before, and afterwards those that hold then.
    """
    named = set(places)
    rates = []
    for point in points:
        if point.zone in named:
            rates.append(_rate(point, point.zone, point.amount))
        dearest = max(zones.values(), default=None)
        zones[point.zone] = point.amount
        peak = max(zones.values())
        if peak != dearest:
            rates += [
                _rate(point, place, peak)
                for place in named
                if point.zone.startswith(place) and place != point.zone
            ]
    return rates


def _rate(point: aws.SpotPoint, place: str, amount: Decimal) -> actions.NewRate:
    return actions.NewRate(
        kind=queries.RateKind.LIST,
        amount=amount,
        currency="USD",
        starts_at=point.at,
        purchase_option=PurchaseOption.SPOT,
        provider="aws",
        region=place,
        instance_type=point.instance_type,
        source="AWS spot price history",
        source_date=point.at.date(),
    )


def _on_demand_rates(price: aws.OnDemandPrice, places: Iterable[str]) -> list[actions.NewRate]:
    return [
        actions.NewRate(
            kind=queries.RateKind.LIST,
            amount=price.amount,
            currency="USD",
            starts_at=price.begins_at,
            purchase_option=PurchaseOption.ON_DEMAND,
            provider="aws",
            region=place,
            instance_type=price.instance_type,
            source=f"AWS price list {price.sku}",
            source_date=price.begins_at.date(),
        )
        for place in places
    ]


def _enter(rates: Sequence[actions.NewRate], tally: Tally, at: datetime) -> None:
    """Spot prices as the series that they are; of the others those that say something new."""
    points = [rate for rate in rates if rate.purchase_option == PurchaseOption.SPOT]
    quoted = [rate for rate in rates if rate.purchase_option != PurchaseOption.SPOT]
    if points:
        tally.add(actions.record_spot_prices(rows=list(enumerate(points)), at=at))
    fresh = list(_changes(quoted, at))
    tally.unchanged += len(quoted) - len(fresh)
    if fresh:
        tally.add(actions.load_price_table(rows=list(enumerate(fresh)), at=at))


def _changes(rates: Iterable[actions.NewRate], at: datetime) -> Iterator[actions.NewRate]:
    """Those that say something new: not older than what is in force, nor the same again."""
    last = {fact.target: (fact.starts_at, fact.amount) for fact in queries.rates_in_force(at)}
    for rate in rates:
        target = actions.target_of(rate)
        began_at, amount = last.get(target, (None, None))
        older = rate.starts_at and began_at and rate.starts_at <= began_at
        if older or amount == rate.amount:
            continue
        last[target] = (rate.starts_at, rate.amount)
        yield rate


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


READERS: dict[tuple[str, str], Callable[[CloudAccountFact, clouds.SyncTurn, Clock], str]] = {
    ("aws", "spot_prices"): _read_spot,
    ("aws", "on_demand_prices"): _read_on_demand,
    ("gcp", "spot_prices"): partial(_read_google, option=PurchaseOption.SPOT),
    ("gcp", "on_demand_prices"): partial(_read_google, option=PurchaseOption.ON_DEMAND),
}
