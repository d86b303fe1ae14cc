"""Vendors of models whose calls are booked while a bill names them: each dollar of them counts twice."""

import re
from typing import LiteralString

from apps.economics.vendor_names import PRICED
from apps.ledger.queries.api_calls import vendors_with_calls
from apps.ledger.queries.tables import rows

# Vendors of models by what a bill may call them: who issues it or provides, or, where `by_label`,
# the service too.
TWICE: LiteralString = """
WITH booked AS MATERIALIZED (
    SELECT name.* FROM unnest(%(vendors)s::text[], %(named)s::text[], %(by_label)s::bool[])
        AS name (vendor, named, by_label)
    JOIN LATERAL (
        SELECT FROM ledger_apiitem AS item
        JOIN ledger_charge AS charge ON charge.api_item_id = item.id
        WHERE item.vendor = name.vendor AND charge.kind = 'api' AND charge.posting_month = %(month)s
        LIMIT 1
    ) AS item ON true
)
SELECT count(DISTINCT booked.vendor), sum(billed.effective_micros)::int8
FROM booked
JOIN ledger_bill AS bill ON bill.starts_at < %(to)s AND bill.ends_at > %(from)s
JOIN ledger_billedcharge AS billed
  ON billed.bill_id = bill.id AND billed.hour >= %(from)s AND billed.hour < %(to)s
 AND concat_ws(' ', bill.issuer, bill.provider, CASE WHEN booked.by_label THEN billed.label END)
     ~* booked.named
"""
OF_MODELS = "\\y.*\\y(api|inference|serverless|tokens?|models?)\\y"
BY_LABEL = {
    "openai": "(?<!azure )\\yopenai",
    "anthropic": "\\yanthropic",
    "aws": "\\ybedrock",
    "google": "\\y(gemini|vertex ai|generative language)",
    "azure": "\\y(azure openai|foundry models)",
    "mistral": "\\ymistral",
    "cohere": "\\ycohere",
}
"""Vendors that the service of a cloud's bill may tell."""

SPELT = {
    "github-copilot": "\\ygithub copilot",
    "moonshotai": "\\y(moonshot|kimi)",
    "ovhcloud": "\\yovh",
    "together": "\\ytogether",
    "voyageai": "\\yvoyage",
    "x-ai": "\\y(xai|x[-_. ]ai)\\y",
}
"""Vendors whose bills have another name at their head than their calls."""

SELL_MORE = frozenset(
    (
        *("baseten", "cloudflare", "databricks", "fireworks", "github-copilot", "modal", "novita"),
        *("ovhcloud", "together"),
    )
)
"""Vendors of prices known here that sell machines and databases too."""


def booked_twice(params: dict[str, object]) -> tuple[int, int | None]:
    """How many vendors, and what their bills come to; `params` are the month and its span."""
    names = [(vendor, *_as_a_bill_names(vendor)) for vendor in sorted(vendors_with_calls())]
    vendors, named, by_label = zip(*names, strict=True) if names else ((), (), ())
    vendor_params = {"vendors": list(vendors), "named": list(named), "by_label": list(by_label)}
    ((count, micros),) = rows(TWICE, params | vendor_params)
    return count, micros


def _as_a_bill_names(vendor: str) -> tuple[str, bool]:
    """The pattern of a vendor's name in a bill, and whether it is of the service too.

    Of `zai` it is Z.ai, of `some-one` Some One. Of a vendor that may sell other things as well the
    service has to say that it is of models.
    """
    if vendor in BY_LABEL:
        return BY_LABEL[vendor], True
    if vendor.startswith("huggingface_"):
        return f"\\yhugging ?face{OF_MODELS}", True
    spelt = SPELT.get(vendor) or _spelt(vendor)
    is_of_models_alone = vendor in PRICED and vendor not in SELL_MORE
    return (spelt, False) if is_of_models_alone else (f"{spelt}{OF_MODELS}", True)


def _spelt(vendor: str) -> str:
    words = [word for word in re.split(r"[-_. ]+", vendor) if word] or ["no name"]
    if len(words[-1]) > 2 and words[-1].endswith("ai"):
        words[-1:] = [words[-1][:-2], "ai"]
    return "\\y" + "[-_. ]?".join(re.sub(r"(\W)", r"\\\1", word) for word in words) + "\\y"
