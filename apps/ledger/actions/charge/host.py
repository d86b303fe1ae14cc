"""The part of a node's price that does not ride on its GPUs: a charge of the pool's owner."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from apps.accounts import queries as accounts
from apps.economics.gpu_share import WHOLE, divided
from apps.economics.split import largest_remainder
from apps.fleet import queries as fleet
from apps.ledger.actions.charge.values import Hour, Price, WantedCharge, digest_of, price_of
from apps.ledger.models import ChargeKind, ChargePart, Status

SURENESS = (Status.PROVISIONAL, Status.RECONCILED)


def divide_host(
    wanted: Iterable[WantedCharge], policies: Mapping[int, int], this: Hour
) -> list[WantedCharge]:
    """The node-hours of pools with a policy (millionths on GPUs, by pool) divided; the rest as is.

    To be applied last: what a commitment covers and what a bill says are divided alike.
    """
    charges = list(wanted)
    if not policies:
        return charges
    pools, platform = fleet.pools(), accounts.special_teams().platform_id
    by_node: dict[int, list[WantedCharge]] = {}
    done = []
    for charge in charges:
        if charge.key[0] == ChargeKind.NODE_HOUR and charge.pool_id in policies:
            by_node.setdefault(charge.key[1], []).append(charge)
        else:
            done.append(charge)
    for parts in by_node.values():
        pool = pools[parts[0].pool_id or 0]
        done += _divide_node(this, parts, policies[pool.id], pool.owner_team_id or platform)
    return done


def _divide_node(
    this: Hour, parts: Sequence[WantedCharge], millionths: int, team_id: int
) -> list[WantedCharge]:
    """The parts of a node-hour by GPU time, and the host's part, where any of it has a price."""
    pieces = [piece for part in parts for piece in part.price.pieces]
    gpu_pieces, host = divided(pieces, millionths)
    if not host:
        return list(parts)
    about = (parts[0].pool_id or 0, this.through_ms)
    billed, host_billed = _host_shares([part.price.billed_micros for part in parts], millionths)
    estimated, host_was = _host_shares([part.price.estimated_micros for part in parts], millionths)
    marginal, host_more = _host_shares([part.price.marginal_micros for part in parts], millionths)
    left = list(gpu_pieces)
    of_gpus = []
    for place, part in enumerate(parts):
        mine, left = left[: len(part.price.pieces)], left[len(part.price.pieces) :]
        price = replace(
            price_of(about, tuple(mine)),
            billed_micros=billed[place],
            estimated_micros=estimated[place],
            marginal_micros=marginal[place],
        )
        of_gpus.append(replace(part, price=_with_digest(price, [part], (millionths, "gpus"))))
    ordered = tuple(sorted(host, key=lambda piece: piece.start_ms))
    price = replace(
        price_of(about, ordered),
        billed_micros=host_billed,
        estimated_micros=host_was,
        marginal_micros=host_more,
    )
    return [
        *of_gpus,
        _host_charge(parts, _with_digest(price, parts, (millionths, team_id)), millionths, team_id),
    ]


def _host_charge(
    parts: Sequence[WantedCharge], price: Price, millionths: int, team_id: int
) -> WantedCharge:
    sure = [part for status in SURENESS for part in parts if part.status is status]
    host_percent = Fraction(WHOLE - millionths, WHOLE) * 100
    sentence = f"{float(host_percent):g} % of its nodes' price does not ride on their GPUs"
    why = [sentence, *(part.reason for part in sure[:1] if part.reason)]
    return WantedCharge(
        key=(ChargeKind.NODE_HOUR, parts[0].key[1], ChargePart.HOST),
        pool_id=parts[0].pool_id,
        price=price,
        status=sure[0].status if sure else None,
        reason="; ".join(why),
        through=parts[0].through,
        team_id=team_id,
    )


def _host_shares(
    amounts: Sequence[int | None], millionths: int
) -> tuple[list[int | None], int | None]:
    """Each amount's part on the GPUs and the host's of them all; one unknown leaves them whole."""
    known_amounts = [amount for amount in amounts if amount is not None]
    if len(known_amounts) < len(amounts):
        return list(amounts), None
    pairs = [
        largest_remainder(amount, [millionths, WHOLE - millionths]) for amount in known_amounts
    ]
    return [pair[0] for pair in pairs], sum(pair[1] for pair in pairs)


def _with_digest(price: Price, parts: Sequence[WantedCharge], about: tuple[object, ...]) -> Price:
    """Of the same plan; another charge where any of its parts was, or the policy is another."""
    facts = ([part.price.digest for part in parts], about, price.pieces)
    plans = {part.price.owned_plan_id for part in parts}
    return replace(
        price,
        digest=digest_of(facts),
        owned_plan_id=plans.pop() if len(plans) == 1 else None,
    )
