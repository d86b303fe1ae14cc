"""Quotes as they are kept: one statement for all that were answered together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

import msgspec
from psycopg.types.json import Jsonb

from apps.accounts import queries as accounts
from apps.ledger.queries.tables import row_of_each
from apps.placement.queries.asked import AskedQuote
from apps.placement.queries.quote_answer import AnsweredQuote
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

    asked: AskedQuote
    found: AnsweredQuote
    by: int | None
    at: datetime
    cluster_id: int | None = None


def keep_quote(
    *,
    asked: AskedQuote,
    found: AnsweredQuote,
    by: int | None,
    at: datetime,
    cluster_id: int | None = None,
) -> QuoteFact:
    """Keep a quote as it was answered, within a change that is logged."""
    (kept,) = keep_quotes([UnkeptQuote(asked, found, by, at, cluster_id)])
    return kept


def keep_quotes(made: Sequence[UnkeptQuote]) -> list[QuoteFact]:
    """The same of several, all or none of them."""
    names = {}
    if any(each.asked.team_id for each in made):
        names = {team.id: team.name for team in accounts.teams()}
    jobs = [each.asked.document() for each in made]
    params = [_row_of_quote(each, job) for each, job in zip(made, jobs, strict=True)]
    kept = row_of_each(KEEP_QUOTE, params)
    return [
        QuoteFact(
            id=quote_id,
            asked_at=each.at,
            asked_by=None if each.by is None else accounts.person_names()[each.by],
            team_id=each.asked.team_id,
            team=names[each.asked.team_id] if each.asked.team_id else None,
            job=job,
            book_digest=each.found.book.digest,
            digest=each.found.digest,
            answer=each.found.answer,
            cluster_id=each.cluster_id,
        )
        for (quote_id,), each, job in zip(kept, made, jobs, strict=True)
    ]


def _row_of_quote(each: UnkeptQuote, job: Mapping[str, Any]) -> dict[str, Any]:
    book, pools = each.found.book, pool_offers(each.found.answer)
    return {
        "at": each.at,
        "by": each.by,
        "team": each.asked.team_id,
        "cluster": each.cluster_id,
        "job": Jsonb(job, dumps=msgspec.json.encode),
        "book": book.id,
        "book_digest": book.digest,
        "digest": each.found.digest,
        "answer": Jsonb(each.found.answer, dumps=msgspec.json.encode),
        "pool_ids": [offer["pool_id"] for offer in pools],
        "pool_offers": Jsonb(pools, dumps=msgspec.json.encode),
    }
