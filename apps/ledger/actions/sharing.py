"""How an hour's part of a shared cost is divided over whoever is there, and what was really used."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from apps.accounts import queries as accounts
from apps.economics.bases import BilledCosts
from apps.economics.sharing import METHODS, energy_weights
from apps.economics.spread import spread
from apps.ledger.queries.energy import drawn_by
from apps.ledger.queries.spreading import CostOwnerTotals, SharedCharge

Weights = Mapping[int, int]
Shares = list[tuple[CostOwnerTotals, BilledCosts]]


class HourSharing:
    """The bearers of one hour, and their weights by each method, worked out once."""

    def __init__(self, hour: datetime, bearers: Sequence[CostOwnerTotals]) -> None:
        self._hour = hour
        self._bearers = bearers
        self._known: dict[str, tuple[Weights, str]] = {}

    def shares(self, charge: SharedCharge) -> tuple[Shares, str]:
        """Who carries what of the charge, summing to it exactly, and how that came to be."""
        if charge.method == "weighted" and charge.weights:
            return list(self._by_team(charge)), METHODS[charge.method]
        if charge.method not in self._known:
            self._known[charge.method] = self._weights_by(charge.method)
        weights, explanation = self._known[charge.method]
        if not any(weights.values()):
            # An hour without lines: nobody to spread over, so the platform team carries it.
            platform = CostOwnerTotals(None, accounts.special_teams().platform_id, None, None, None)
            return [
                (platform, charge.costs)
            ], f"{explanation}; nobody was there, Platform carries it"
        parts = spread(charge.costs, weights).items()
        return [(self._bearers[place], costs) for place, costs in parts], explanation

    def _by_team(self, charge: SharedCharge) -> Iterator[tuple[CostOwnerTotals, BilledCosts]]:
        """Each team's part by its weight; inside it by direct cost, else by time."""
        for team_id, part in spread(charge.costs, charge.weights).items():
            own_places = [n for n, bearer in enumerate(self._bearers) if bearer.team_id == team_id]
            by_cost = {n: max(0, self._bearers[n].effective_micros) for n in own_places}
            weights = by_cost if any(by_cost.values()) else self._times_of(own_places)
            if not any(weights.values()):
                yield CostOwnerTotals(None, team_id, None, None, None), part
            else:
                for place, costs in spread(part, weights).items():
                    yield self._bearers[place], costs

    def _weights_by(self, method: str) -> tuple[Weights, str]:
        """Weights by the bearer's place; by time where the method knows none of them."""
        methods: dict[str, Callable[[], tuple[Weights, str]]] = {
            "even": self._by_presence,
            "by_cost": self._by_cost,
            "by_active_time": self._by_active_time,
            "by_energy": self._by_energy,
        }
        of = methods.get(method)
        if of is not None:
            return of()
        times, explanation = self._all_times(), METHODS["by_unit_time"]
        is_of_cores = any(times.values()) and not any(bearer.unit_ms for bearer in self._bearers)
        return (
            times,
            f"{explanation}; by core time, as no GPU was there" if is_of_cores else explanation,
        )

    def _by_presence(self) -> tuple[Weights, str]:
        there = {n: 1 for n, bearer in enumerate(self._bearers) if bearer.unit_ms or bearer.core_ms}
        return there, METHODS["even"]

    def _by_cost(self) -> tuple[Weights, str]:
        weights = {n: max(0, bearer.effective_micros) for n, bearer in enumerate(self._bearers)}
        if not any(weights.values()):
            return self._by_time_as("by_cost", "no cost is known")
        left_out = any(bearer.unpriced_ms for bearer in self._bearers)
        note = "; time without a price carries none" if left_out else ""
        return weights, METHODS["by_cost"] + note

    def _by_active_time(self) -> tuple[Weights, str]:
        weights = {n: bearer.active_ms for n, bearer in enumerate(self._bearers)}
        if not any(weights.values()):
            return self._by_time_as("by_active_time", "no GPU was active")
        unseen = any(bearer.unseen_ms for bearer in self._bearers)
        note = "; held time that nobody observed counts as active" if unseen else ""
        return weights, METHODS["by_active_time"] + note

    def _by_energy(self) -> tuple[Weights, str]:
        energy = energy_weights(drawn_by(self._hour, self._bearers) if self._bearers else ())
        if not any(energy.millijoules.values()):
            return self._by_time_as("by_energy", "no meter told")
        explanation = METHODS["by_energy"]
        if energy.unmetered_ms:
            total_ms = energy.metered_ms + energy.unmetered_ms
            part = max(1, round(100 * energy.unmetered_ms / total_ms))
            explanation += (
                f"; {part} % of GPU time had no meter and counts with the mean of the rest"
            )
        return energy.millijoules, explanation

    def _by_time_as(self, method: str, why: str) -> tuple[Weights, str]:
        times = self._all_times()
        explanation = METHODS[method]
        return times, f"{explanation}; {METHODS['by_unit_time']}, as {why}" if any(
            times.values()
        ) else explanation

    def _all_times(self) -> Weights:
        return self._times_of(range(len(self._bearers)))

    def _times_of(self, places: Sequence[int]) -> Weights:
        """Of GPUs; of cores where no GPU was there at all, as one cannot be added to the other."""
        times = {n: self._bearers[n].unit_ms for n in places}
        return times if any(times.values()) else {n: self._bearers[n].core_ms for n in places}
