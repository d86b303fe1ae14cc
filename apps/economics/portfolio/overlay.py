"""Documents of a portfolio laid over each other, and without what nobody knows the price of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from apps.economics.portfolio.names import MOST_MONTHS, month_after
from apps.economics.refusal import Refusal

TABLES = ("families", "offers", "held")
DEMAND_SOURCES = ("hours", "file", "series")


@dataclass(frozen=True, slots=True)
class CompletedDocument:
    """A document that can be asked; `left_out` are names of families with why, `notes` what was taken to be."""

    document: dict[str, Any]
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def overlaid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A document with what another says over it: tables of one name are one, others come after."""
    merged = dict(below)
    for key, value in above.items():
        base_value = merged.get(key)
        if isinstance(base_value, Mapping) and isinstance(value, Mapping):
            merged[key] = overlaid(_without_other_source(base_value, value), value)
        elif isinstance(base_value, list) and _are_tables(base_value) and _are_tables(value):
            merged[key] = _overlaid_tables(base_value, value)
        else:
            merged[key] = value
    return merged


def _without_other_source(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Demand is from one source: where one is said above, not from another, nor with its growth."""
    is_said = any(source in above for source in DEMAND_SOURCES)
    others = (*DEMAND_SOURCES, "monthly_growth", "starting_gpus") if is_said else ()
    return {key: below[key] for key in below if key not in others}


def completed(document: Mapping[str, Any]) -> CompletedDocument:
    """Without families of unknown price, or with capacity of unknown cost, and what is of them.

    What is held without a known end is taken to last through the planned months. Refuses a Refusal.
    """
    for key in TABLES:
        if not _are_tables(document.get(key, [])):
            raise Refusal(key, f"{document[key]!r} is not a list of tables")
    families, offers, held_tables = (document.get(key, []) for key in TABLES)
    left_out = {
        str(table.get("name")): why for table in families if (why := _unknown(table, held_tables))
    }
    known_families = [table for table in families if str(table.get("name")) not in left_out]
    notes: list[str] = []
    lasting = [table for table in held_tables if str(table.get("family")) not in left_out]
    return CompletedDocument(
        dict(document)
        | {
            "families": known_families,
            "offers": [table for table in offers if str(table.get("family")) not in left_out],
            "held": list(_with_ends(lasting, document, notes)),
        },
        tuple(left_out.items()),
        tuple(notes),
    )


def _unknown(family: Mapping[str, Any], held_tables: Sequence[Mapping[str, Any]]) -> str:
    """Why a family cannot be asked about; empty where it can."""
    if "on_demand" not in family:
        return "no price on demand is on record: add on_demand to it"
    for table in held_tables:
        if table.get("family") == family.get("name") and "rate" not in table:
            return f"what {table.get('name')} costs is not on record: add its rate"
    return ""


def _with_ends(
    held_tables: Sequence[Mapping[str, Any]], document: Mapping[str, Any], notes: list[str]
) -> Iterator[dict[str, Any]]:
    months = document.get("months", 12)
    for table in held_tables:
        if "ends_on" in table or not isinstance(months, int) or not 0 < months <= MOST_MONTHS:
            yield dict(table)
            continue
        day = _day_of(document.get("on"))
        notes.append(
            f"When {table.get('name')} ends is not on record: it is taken to last through the planned months."
        )
        yield dict(table) | {"ends_on": month_after(day, months + 1).isoformat()}


def _day_of(on: Any) -> date:
    try:
        return on if type(on) is date else date.fromisoformat(on)
    except (TypeError, ValueError):
        raise Refusal("on", f"{on!r} is not a day such as 2026-11-01") from None


def _overlaid_tables(
    below: Sequence[Mapping[str, Any]], above: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """By name, in the order in which names come first; what has none comes last, as it is."""
    named = {str(table["name"]): dict(table) for table in below}
    nameless = [dict(table) for table in above if "name" not in table]
    for table in above:
        if "name" in table:
            name = str(table["name"])
            named[name] = overlaid(named.get(name, {}), table)
    return [*named.values(), *nameless]


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)
