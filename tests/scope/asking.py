"""Asking an address as somebody, and all that comes back."""

import gzip
import re
from typing import Any
from urllib.parse import parse_qs

from django.db import connection

from tests.scope.world import World

FORMS = {
    "page": {"Accept": "text/html"},
    "part of a page": {"Accept": "text/html", "HX-Request": "true"},
    "JSON": {"Accept": "application/json"},
    "CSV": {"Accept": "text/csv"},
}
MADE_ANEW = re.compile(r'(name="csrfmiddlewaretoken" value|nonce|"X-CSRFToken":)\s*=?\s*"[^"]*"')


def answered(world: World, name: str, path: str, form: str, query: str = "") -> Any:
    """The answer to a GET; a bug is an answer of 500, for its text may tell something too."""
    client = world.askers[name].client(raise_request_exception=False)
    return client.get(path, headers=FORMS[form], query_params=parse_qs(query))


def answered_about(world: World, name: str, path: str, method: str, form: str) -> Any:
    """The answer to a HEAD or OPTIONS, which ask about an address, not for what is there."""
    client = world.askers[name].client(raise_request_exception=False)
    return getattr(client, method)(path, headers=FORMS[form])


def text_of(response: Any) -> str:
    """Headers, cookies and the body."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    if response.headers.get("Content-Type") == "application/gzip":
        body = gzip.decompress(body)
    outside = [f"{name}: {value}" for name, value in response.headers.items()]
    return "\n".join([*outside, response.cookies.output(), body.decode()])


def body_of(response: Any) -> str:
    """The body, without what is made anew for every answer."""
    return MADE_ANEW.sub("", response.content.decode())


def rows_written() -> dict[str, int]:
    """By table, how many rows were written in this transaction; a token's last use aside."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables"
            " WHERE relname ~ '^(accounts|fleet|pricing|workloads|ledger|telemetry)_'"
            " AND relname <> 'accounts_accesstoken'"
        )
        return dict(cursor.fetchall())
