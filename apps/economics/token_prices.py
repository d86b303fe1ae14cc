"""The cost of a token of each kind, by what was charged: contracts and tiers are in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LARGEST_REST = 0.01
"""Of what was charged: more that no price of a token explains (calls by the request, long prompts) is no price list."""


@dataclass(frozen=True, slots=True)
class TokenUse:
    """Tokens by how they are priced, and what they were charged together, in micro-units."""

    plain: int
    cached: int
    written: int
    output: int
    micros: int


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """Micro-units of one token; None where there was none of the kind."""

    plain: float | None
    cached: float | None
    written: float | None
    output: float | None

    def cost(self, use: TokenUse) -> float | None:
        """Return the charge of a use by these prices; None where it needs a price that is not known."""
        parts = (
            (use.plain, self.plain),
            (use.cached, self.cached),
            (use.written, self.written),
            (use.output, self.output),
        )
        if any(count and price is None for count, price in parts):
            return None
        return sum(count * (price or 0.0) for count, price in parts)


def token_prices(uses: Sequence[TokenUse]) -> TokenPrices | None:
    """By least squares over uses of one model at one tier.

    None where these do not tell the kinds apart (too few, or always in the same proportion), or where prices of tokens
    alone do not make up what was charged.
    """
    counts = np.array([[use.plain, use.cached, use.written, use.output] for use in uses], float)
    charged = np.array([use.micros for use in uses], float)
    if not len(uses) or charged.sum() <= 0:
        return None
    is_used = counts.sum(axis=0) > 0
    scale = counts[:, is_used].sum(axis=0)
    scaled_prices, _, rank, _ = np.linalg.lstsq(counts[:, is_used] / scale, charged, rcond=1e-6)
    if rank < is_used.sum():
        return None
    prices = scaled_prices / scale
    residual = np.abs(counts[:, is_used] @ prices - charged).sum()
    if residual > LARGEST_REST * charged.sum() or (prices < 0).any():
        return None
    by_kind = iter(prices.tolist())
    plain, cached, written, output = (next(by_kind) if is_seen else None for is_seen in is_used)
    return TokenPrices(plain, cached, written, output)
