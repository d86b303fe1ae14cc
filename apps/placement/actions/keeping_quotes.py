"""Quotes as they are kept: one statement for all that were answered together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

import msgspec
from psycopg.types.json import Jsonb

from apps.accounts import queries as accounts
from apps.ledger.queries.tables import first_row_per_params
from apps.placement.queries.quote_answer import AnsweredQuote
from apps.placement.queries.quote_request import QuoteRequest
from apps.placement.queries.quotes import QuoteFact, pool_offers

KEEP_QUOTE: LiteralString = """
INSERT INTO placement_jobquote (asked_at, asked_by_id, team_id, cluster_id, job, book_id, book_digest, digest, answer,
    pool_ids, pool_offers, chosen, run_name, expected)
VALUES (%(at)s, %(by)s, %(team)s, %(cluster)s, %(job)s, %(book)s, %(book_digest)s, %(digest)s, %(answer)s, %(pool_ids)s::bigint[],
    %(pool_offers)s, '', '', '[]')
RETURNING id
"""


@dataclass(frozen=True, slots=True)
class UnkeptQuote:
    """A quote as it was answered, to a caller that is bound to one cluster (None: to none)."""

    asked: QuoteRequest
    found: AnsweredQuote
    by: int | None
    at: datetime
    cluster_id: int | None = None


def keep_quote(
    *,
    question: QuoteRequest,
    answer: AnsweredQuote,
    by: int | None,
    at: datetime,
    cluster_id: int | None = None,
) -> QuoteFact:
    """Keep a quote as it was answered, within a change that is logged."""
    (quote,) = keep_quotes([UnkeptQuote(question, answer, by, at, cluster_id)])
    return quote


def keep_quotes(quotes: Sequence[UnkeptQuote]) -> list[QuoteFact]:
    """Keep several quotes, all or none of them."""
    names = {}
    if any(quote.asked.team_id for quote in quotes):
        names = {team.id: team.name for team in accounts.teams()}
    jobs = [quote.asked.document() for quote in quotes]
    params = [_row_of_quote(quote, job) for quote, job in zip(quotes, jobs, strict=True)]
    id_rows = first_row_per_params(KEEP_QUOTE, params)
    return [
        QuoteFact(
            id=quote_id,
            asked_at=quote.at,
            asked_by=None if quote.by is None else accounts.person_names()[quote.by],
            team_id=quote.asked.team_id,
            team=names[quote.asked.team_id] if quote.asked.team_id else None,
            job=job,
            book_digest=quote.found.book.digest,
            digest=quote.found.digest,
            answer=quote.found.answer,
            cluster_id=quote.cluster_id,
        )
        for (quote_id,), quote, job in zip(id_rows, quotes, jobs, strict=True)
    ]


def _row_of_quote(quote: UnkeptQuote, job: Mapping[str, Any]) -> dict[str, Any]:
    book, pools = quote.found.book, pool_offers(quote.found.answer)
    return {
        "at": quote.at,
        "by": quote.by,
        "team": quote.asked.team_id,
        "cluster": quote.cluster_id,
        "job": Jsonb(job, dumps=msgspec.json.encode),
        "book": book.id,
        "book_digest": book.digest,
        "digest": quote.found.digest,
        "answer": Jsonb(quote.found.answer, dumps=msgspec.json.encode),
        "pool_ids": [offer["pool_id"] for offer in pools],
        "pool_offers": Jsonb(pools, dumps=msgspec.json.encode),
    }
