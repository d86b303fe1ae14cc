"""The name of a provider in a FOCUS file, whatever pools and bills call it; and who pays it."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

# As their own FOCUS exports name them; bills also name the company that invoices.
KNOWN = (
    (re.compile(r"(aws|amazon)\b.*", re.IGNORECASE), "AWS"),
    (re.compile(r"(gcp|google)\b.*", re.IGNORECASE), "Google Cloud"),
    (re.compile(r"(azure|microsoft)\b.*", re.IGNORECASE), "Microsoft"),
    (re.compile(r"(oci|oracle)\b.*", re.IGNORECASE), "Oracle"),
)
# As pools, prices and the folders of clouds call them.
_WORDS = {"AWS": "aws", "Google Cloud": "gcp", "Microsoft": "azure", "Oracle": "oci"}
# What is no part of a company's name, and of an account's number.
LEGAL_FORMS = re.compile(
    r"[,.]|\b(inc|incorporated|corp|corporation|co|company|llc|ltd|limited|gmbh|ag|se|sa|sas|sarl|bv|"
    r"emea|europe|international|pty|pte|plc|labs)\b",
    re.IGNORECASE,
)
WITHOUT_FRACTION = re.compile(r"^(\d+)\.0+$")
NO_PART = re.compile(r"[^a-z0-9]")


def spellings(names: Iterable[str]) -> dict[str, str]:
    """One spelling of each of these names, by the name without case; capitals come first."""
    names_by_key: dict[str, str] = {}
    for name in sorted(names):
        names_by_key.setdefault(name.casefold(), name)
    return names_by_key


def provider_name(text: str, spelt: Mapping[str, str]) -> str:
    """The one name of a provider in a file."""
    for pattern, name in KNOWN:
        if pattern.fullmatch(text):
            return name
    return spelt.get(text.casefold(), text)


def provider_word(text: str) -> str:
    """Return the word of pools and prices for a provider: `Google Cloud` is gcp, `AWS` aws; of others the name in small letters."""
    name = text.strip()
    canonical_name = provider_name(name, {})
    return _WORDS.get(canonical_name, name.lower())


def provider_key(*names: str) -> str:
    """One word for a provider, by the first of its names that is known; else of the first that says any.

    `Amazon Web Services, Inc.`, `AWS` and `Amazon Web Services EMEA SARL` are one; so are names that
    differ by case, signs and legal forms alone.
    """
    for name in names:
        for pattern, canonical_name in KNOWN:
            if pattern.fullmatch(name.strip()):
                return canonical_name.lower()
    plain = (NO_PART.sub("", LEGAL_FORMS.sub("", name).lower()) for name in names)
    return next((word for word in plain if word), "")


def payer_key(account: str) -> str:
    """An account's number without signs, the path that it stands in, and what a table made of a number.

    Spreadsheets drop the zeros that it begins with, and tables of numbers end it with `.0`.
    """
    number = account.strip().rstrip("/").rsplit("/", 1)[-1].lower()
    plain = NO_PART.sub("", WITHOUT_FRACTION.sub(r"\1", number))
    return plain.lstrip("0") if plain.isdigit() else plain


def are_one_period(one: tuple[datetime, datetime], other: tuple[datetime, datetime]) -> bool:
    """Whether two billing periods are of one time: one has the middle of the other, as a month has a day's."""
    middles = (begins + (ends - begins) / 2 for begins, ends in (one, other))
    return any(
        begins <= middle < ends
        for middle, (begins, ends) in zip(middles, (other, one), strict=True)
    )
