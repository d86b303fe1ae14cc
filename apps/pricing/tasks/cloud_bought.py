"""Purchases ahead from a cloud, kept as commitments."""

from dataclasses import dataclass

from apps.accounts.queries.facts import field_names
from apps.economics.hours import HOUR, hour_of
from apps.economics.refusal import Refusal
from apps.pricing import actions
from apps.pricing.queries import RateUnit
from apps.pricing.queries.commitments import commitments
from apps.pricing.tasks.rounds import ReadingRound
from apps.providers.reading import (
    BoughtAhead,
    CloudFact,
    NotCounted,
    ReturnedPurchase,
    UnreadablePurchase,
)

PURCHASE_COUNTS = ("added", "updated", "unchanged", "ended", "left_out", "rejected")


@dataclass(slots=True)
class PurchaseLedger:
    """Keeps what a cloud sold for a term, and counts in the round what became of it."""

    provider: str
    round: ReadingRound

    def keep(self, fact: CloudFact) -> None:
        """Record it, end it, leave it out, or note why it cannot be kept."""
        match fact:
            case BoughtAhead():
                self._record_bought(fact)
            case ReturnedPurchase():
                self._end_commitment(fact.external_id)
                self.round.count("left_out")
            case NotCounted():
                self.round.count("left_out")
                self.round.note(fact.note)
            case UnreadablePurchase():
                self._reject_bought(fact.name, fact.reason)
            case _:
                raise TypeError(f"{type(fact).__name__} is nothing that was bought")

    def _record_bought(self, bought: BoughtAhead) -> None:
        self.round.note(bought.note)
        try:
            outcome = actions.record_commitment(
                commitment=self._entered_commitment(bought), at=self.round.clock()
            )
        except Refusal as refused:
            self._reject_bought(bought.name, str(refused))
            return
        self.round.count(outcome.became)

    def _end_commitment(self, external_id: str) -> None:
        at = self.round.clock()
        this_hour = hour_of(at)
        for commitment in commitments():
            ended_at = max(this_hour, commitment.starts_at) + HOUR
            is_it = (commitment.provider, commitment.external_id) == (self.provider, external_id)
            if is_it and commitment.ended_at is None and ended_at < commitment.ends_at:
                actions.end_commitment(commitment_id=commitment.id, ended_at=ended_at, at=at)
                self.round.count("ended")

    def _reject_bought(self, name: str, reason: str) -> None:
        self.round.count("rejected")
        self.round.note(f"{name} is not kept: {reason}")

    def _entered_commitment(self, bought: BoughtAhead) -> actions.EnteredCommitment:
        fields = {
            name: getattr(bought, name)
            for name in field_names(actions.EnteredCommitment)
            if hasattr(bought, name)
        }
        unit = RateUnit.GPU if bought.is_by_gpu else RateUnit.NODE
        return actions.EnteredCommitment(**fields, provider=self.provider, unit=unit)
