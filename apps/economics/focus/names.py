"""What a provider is called in a FOCUS file, whatever pools and bills call it."""

import re
from collections.abc import Iterable, Mapping

# As their own FOCUS exports name them; bills also name the company that invoices.
KNOWN = (
    (re.compile(r"(aws|amazon)\b.*", re.IGNORECASE), "AWS"),
    (re.compile(r"(gcp|google)\b.*", re.IGNORECASE), "Google Cloud"),
    (re.compile(r"(azure|microsoft)\b.*", re.IGNORECASE), "Microsoft"),
    (re.compile(r"(oci|oracle)\b.*", re.IGNORECASE), "Oracle"),
)


def spellings(names: Iterable[str]) -> dict[str, str]:
    """One spelling of each of these names, by the name without case; capitals come first."""
    found: dict[str, str] = {}
    for name in sorted(names):
        found.setdefault(name.casefold(), name)
    return found


def provider_name(said: str, spelt: Mapping[str, str]) -> str:
    """The one name of a provider in a file."""
    for pattern, name in KNOWN:
        if pattern.fullmatch(said):
            return name
    return spelt.get(said.casefold(), said)
