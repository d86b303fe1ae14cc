"""The gates of a quote as it was answered, and of the quotes that had ended by then."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, LiteralString

from apps.accounts.queries import organisation
from apps.economics.gates import Gate
from apps.economics.money import MICROS
from apps.economics.placement.quote_backtest import EndedQuote
from apps.economics.placement.quote_gates import QuotedOffer, quote_gates
from apps.economics.purchase import PurchaseOption
from apps.ledger.queries.tables import rows
from apps.placement.queries.quotes import QuoteFact

MOST_ENDED = 200
"""The newest of those that ended say how quotes do now."""
# The range is of what a job costs its organisation: its share of what is said lies about what is said to be charged.
ENDED: LiteralString = """
SELECT asked_at, ended_at, (job->>'gpus')::integer, (offer->>'charged_micros')::float8,
       (offer->>'charged_micros')::float8 * (offer->'cost_micros'->>'low')::float8
           / nullif((offer->'cost_micros'->>'likely')::float8, 0),
       (offer->>'charged_micros')::float8 * (offer->'cost_micros'->>'high')::float8
           / nullif((offer->'cost_micros'->>'likely')::float8, 0),
       actual_micros
FROM placement_jobquote, LATERAL jsonb_path_query_first(
    answer, '$.offers[*] ? (@.key == $key)', jsonb_build_object('key', chosen)
) AS offer
WHERE ended_at <= %(at)s AND chosen <> '' AND actual_micros IS NOT NULL AND offer->>'option' = %(option)s
  AND (%(team)s::int8 IS NULL OR team_id = %(team)s)
  AND (%(cluster)s::int8 IS NULL OR cluster_id = %(cluster)s)
ORDER BY ended_at DESC, id DESC LIMIT %(most)s
"""


def gates_of_quote(fact: QuoteFact) -> tuple[Gate, ...]:
    """Of its first offer, beside what had ended when it was asked: of its team, and of its cluster where it is bound to one."""
    return gates_of_answer(fact.answer, fact.asked_at, fact.team_id, fact.cluster_id)


def gates_of_answer(
    answer: Mapping[str, Any],
    at: datetime,
    team_id: int | None = None,
    cluster_id: int | None = None,
) -> tuple[Gate, ...]:
    """Of its first offer; none where no offer took the job. An answer of an earlier release did not say what is there."""
    if not answer["offers"]:
        return ()
    first = answer["offers"][0]
    evidence = first.get("evidence") or {}
    cost, compute = (
        first[name] and first[name]["likely"] for name in ("cost_micros", "compute_micros")
    )
    return quote_gates(
        QuotedOffer(
            gpus=first.get("rented_gpus") or first["nodes"],
            there=first.get("there_gpus"),
            finish_hours=first["finish_hours"],
            is_spot=first["option"] == PurchaseOption.SPOT,
            watched_hours=evidence.get("exposure_hours"),
            cost=None if cost is None else cost / MICROS,
            parts=tuple(
                micros / MICROS
                for micros in (compute, first["egress_micros"])
                if micros is not None
            ),
            currency=organisation().currency,
        ),
        _ended_quotes(first["option"], at, team_id, cluster_id),
    )


def _ended_quotes(
    option: str, at: datetime, team_id: int | None, cluster_id: int | None
) -> list[EndedQuote]:
    params = {
        "option": option,
        "at": at,
        "team": team_id,
        "cluster": cluster_id,
        "most": MOST_ENDED,
    }
    ended_quotes = []
    for asked_at, ended_at, gpus, *micros in rows(ENDED, params):
        quoted, low, high, actual = (None if micro is None else micro / MICROS for micro in micros)
        ended_quotes.append(EndedQuote(asked_at, ended_at, gpus, quoted, low, high, actual or 0.0))
    return ended_quotes
