"""The table of quotas that clouds let accounts have, and of capacity that is held."""

from decimal import Decimal

from apps.pricing.queries.quotas import QuotaFact
from apps.providers.registry import label_of
from apps.show.cell_formats import RATIO, Format
from apps.tables.column import Column
from apps.tables.table import Table

PLAIN = Format(
    lambda number, _: f"{number.normalize():f}",
    lambda number, _: f"{number.normalize():f}",
    "number-cell",
)


def used_ratio(limit: QuotaFact) -> Decimal | None:
    """Return how much of a limit is used; None where nobody told."""
    return None if limit.used is None or not limit.value else limit.used / limit.value


def _is_full(limit: QuotaFact) -> bool:
    """A reservation is meant to be full; a limit stops whoever wants more."""
    return not limit.is_held and (used_ratio(limit) or 0) >= 1


def _account_words(limit: QuotaFact) -> str:
    return f"{label_of(limit.provider)} {limit.account}"


QUOTAS = Table[QuotaFact](
    "quotas",
    "Quotas and held capacity",
    (
        Column("name", "Quota or reservation", note=lambda limit: limit.code),
        Column("cloud", "", lambda limit: label_of(limit.provider)),
        Column("account", "Account", order=_account_words, shown=lambda limit, _: _account_words(limit)),
        Column("region", "Region"),
        Column("code", ""),
        Column("value", "Limit", format=PLAIN),
        Column("used", "Used", format=PLAIN),
        Column("share", "Used of limit", used_ratio, RATIO, csv="", missing="", warns=_is_full),
        Column("unit", "Unit"),
        Column("read_at", "Read", formerly=("read",)),
        Column("id", ""),
        Column("provider", ""),
    ),
    noun=("line", "lines"),
    about="limits of the accounts, and reservations that are billed whether used or not: {said}",
    sort="quotas",
    csv_first=("cloud", "account", "region", "code"),
    row=QuotaFact,
    unique=lambda limit: (limit.provider, limit.account, limit.region, limit.code),
)  # fmt: skip
