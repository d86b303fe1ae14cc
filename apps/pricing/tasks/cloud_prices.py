"""Reads the prices of what the pools use from a cloud, and enters those that changed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.economics.places import lies_in
from apps.economics.purchase import PurchaseOption
from apps.fleet.actions import clouds
from apps.fleet.queries import pools
from apps.fleet.queries.clouds import CloudAccountFact
from apps.pricing import actions, queries
from apps.pricing.queries.listing import rates_in_force
from apps.pricing.tasks.rounds import Clock
from apps.providers.reading import CloudPrice, PricesRead, ReadingRequest, WantedPrice
from apps.providers.registry import reader_of

OPTIONS = {"spot_prices": PurchaseOption.SPOT, "on_demand_prices": PurchaseOption.ON_DEMAND}


@dataclass(slots=True)
class PriceTally:
    """Counts of what became of the prices read."""

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

    def reject(self, reason: str) -> None:
        """One has no price that could be entered."""
        self.rejected += 1
        self.reasons.append(reason)

    def counts(self) -> dict[str, int]:
        """As they are kept with the sync."""
        return {"prices": self.prices, "unchanged": self.unchanged, "rejected": self.rejected}

    def note(self) -> str:
        """Return what was odd, in words."""
        remarks = []
        if self.reasons:
            remarks.append(f"{self.rejected} prices not taken: {self.reasons[0]}")
        if self.waiting:
            remarks.append(f"{self.waiting} prices wait for finance to decide")
        return "; ".join(remarks)


def read_prices(account: CloudAccountFact, what: str, turn: clouds.SyncTurn, clock: Clock) -> str:
    """Enter what the cloud asks for the machines that pools use; answers what was odd."""
    tally, at = PriceTally(), clock()
    request = ReadingRequest(
        account=account.access,
        began_at=at,
        lived_since=at,
        wanted=tuple(_wanted_prices(account, OPTIONS[what])),
        cursor=turn.cursor,
    )
    for fact in reader_of(account.provider, what)(request):
        if not isinstance(fact, PricesRead):
            raise TypeError(f"{type(fact).__name__} is no price")
        if fact.unpriced:
            tally.reject(fact.unpriced)
        _enter_rates(
            [_rate_of_price(price, account.provider, at) for price in fact.prices], tally, clock()
        )
        clouds.keep_page(turn=turn, cursor=fact.cursor, counts=tally.counts(), at=clock())
    return tally.note()


def _wanted_prices(account: CloudAccountFact, option: PurchaseOption) -> Iterator[WantedPrice]:
    """Yield the prices to ask for: every instance type of the account's pools, in each of its regions."""
    places_by_machine: dict[tuple[str, str], set[str]] = {}
    for pool in pools().values():
        # What machines cost on demand is the list price of those bought otherwise, too.
        is_asked = pool.purchase_option == option or (
            option is PurchaseOption.ON_DEMAND and pool.purchase_option in queries.DISCOUNTED
        )
        if pool.provider != account.provider or not is_asked:
            continue
        for region in account.regions:
            if pool.instance_type and lies_in(pool.region, region):
                places_by_machine.setdefault((region, pool.instance_type), set()).add(pool.region)
    for (region, instance_type), places in sorted(places_by_machine.items()):
        yield WantedPrice(region, instance_type, tuple(sorted(places)))


def _rate_of_price(price: CloudPrice, provider: str, read_at: datetime) -> actions.EnteredRate:
    return actions.EnteredRate(
        kind=queries.RateKind.LIST,
        amount=price.amount,
        currency=price.currency,
        starts_at=price.starts_at,
        purchase_option=price.option,
        provider=provider,
        region=price.place,
        instance_type=price.instance_type,
        source=price.source,
        source_date=read_at.date(),
    )


def _enter_rates(rates: Sequence[actions.EnteredRate], tally: PriceTally, at: datetime) -> None:
    """Spot prices as the series that they are; of the others those that say something new."""
    points = [rate for rate in rates if rate.purchase_option == PurchaseOption.SPOT]
    quoted = [rate for rate in rates if rate.purchase_option != PurchaseOption.SPOT]
    if points:
        tally.add(actions.record_spot_prices(rows=list(enumerate(points)), at=at))
    fresh = list(_changed_rates(quoted, at)) if quoted else []
    tally.unchanged += len(quoted) - len(fresh)
    if fresh:
        tally.add(actions.load_price_table(rows=list(enumerate(fresh)), at=at))


def _changed_rates(
    rates: Iterable[actions.EnteredRate], at: datetime
) -> Iterator[actions.EnteredRate]:
    """Those that say something new: not older than what is in force, nor the same again."""
    last = {rate["target"]: (rate["starts_at"], rate["amount"]) for rate in rates_in_force(at)}
    for rate in rates:
        target = actions.target_of(rate)
        began_at, amount = last.get(target, (None, None))
        older = rate.starts_at and began_at and rate.starts_at <= began_at
        if older or amount == rate.amount:
            actions.say_again(rate)
            continue
        last[target] = (rate.starts_at, rate.amount)
        yield rate
