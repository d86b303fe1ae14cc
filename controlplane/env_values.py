"""How the values of variables are read; each refuses ValueError or LookupError of a text that is none."""

from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from apps.files.limits import FIXED, BodyKind
from apps.review.queries.weekly.review_words import SECTIONS


def written(value: object) -> str:
    """Return a value as one would set it: several by comma, what is of a name by =, a group's team by :."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(map(_written_part, value))
    return "" if value is None else str(value)


def _written_part(part: object) -> str:
    if not isinstance(part, tuple):
        return str(part)
    name, given, *of = map(str, part)
    return f"{name}={':'.join([given, *filter(None, of)])}"


def switch(text: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    return words[text.strip().lower()]


def words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


ROLES = ("finance", "platform", "lead", "viewer")


def grants(text: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(grant(each) for each in words(text))


def grant(text: str) -> tuple[str, str, str]:
    """`group=role:team` in its parts; a group may itself hold = and :, as names in LDAP do."""
    group, equals, granted = text.rpartition("=")
    role, _, team = granted.partition(":")
    if not equals or not group.strip() or role.strip() not in ROLES:
        raise ValueError(text)
    return group.strip(), role.strip(), team.strip()


def natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def numbers(text: str) -> tuple[int, ...]:
    return tuple(natural(word) for word in words(text))


def some(text: str) -> int:
    number = natural(text)
    if not number:
        raise ValueError(text)
    return number


def log_format(text: str) -> str:
    if text not in {"key_value", "json"}:
        raise ValueError(text)
    return text


VERDICT_BUCKETS = (
    *("data_wait", "communication", "checkpoint", "lost", "recovery", "startup", "failed"),
    *("capacity_wait", "idle_after_end", "diverged"),
)


def shares(text: str) -> tuple[tuple[str, float], ...]:
    return tuple(share(each) for each in words(text))


def share(text: str) -> tuple[str, float]:
    """`data_wait=0.15`: a bucket of training time, and a share of it between 0 and 1."""
    bucket, _, share = text.partition("=")
    if bucket.strip() not in VERDICT_BUCKETS or not 0 < float(share) < 1:
        raise ValueError(text)
    return bucket.strip(), float(share)


JOURNAL_ACCOUNTS = (
    *("node_hour", "commitment_unused", "owned_unused", "shared", "purchase", "credit", "tax"),
    *("api", "unmatched", "service"),
)
"""Kinds of charges, as the journal of a closed month has an account for each."""


def gl_codes(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(gl_code(each) for each in words(text))


def gl_code(text: str) -> tuple[str, str]:
    """`node_hour=6120`: an account of the journal, and its code in somebody's own ledger."""
    account, _, code = (part.strip() for part in text.partition("="))
    if account not in JOURNAL_ACCOUNTS or not code:
        raise ValueError(text)
    return account, code


def review_sections(text: str) -> tuple[str, ...]:
    named = words(text)
    if not set(named) <= set(SECTIONS):
        raise ValueError(text)
    return named


def at_most(most: int, read: Callable[[str], int]) -> Callable[[str], int]:
    """What `read` reads; a larger number is refused."""

    def bounded(text: str) -> int:
        number = read(text)
        if number > most:
            raise ValueError(text)
        return number

    return bounded


def folder(text: str) -> str:
    if text and not Path(text).is_dir():
        raise ValueError(text)
    return text


def body_limits(text: str) -> tuple[tuple[str, int], ...]:
    """`bill=1024`: a kind of body and how many MiB of it are taken."""
    return tuple(body_limit(word) for word in words(text))


def body_limit(text: str) -> tuple[str, int]:
    kind, _, mebibytes = text.partition("=")
    if BodyKind(kind.strip()) in FIXED:
        raise ValueError(text)
    return kind.strip(), some(mebibytes)


def place_of_files(text: str) -> str:
    """A folder from the root on, or s3://bucket/prefix; empty: RUNRATE_HOME."""
    scheme, is_address, bucket = text.partition("://")
    if is_address and (scheme != "s3" or not bucket.strip("/")):
        raise ValueError(text)
    if text and not is_address and not Path(text).is_absolute():
        raise ValueError(text)
    return text.rstrip("/")


def origin(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path not in {"", "/"}:
        raise ValueError(text)
    return text.rstrip("/")


def mail_server(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ValueError(text)
    return text


def networks(text: str) -> tuple[str, ...]:
    return tuple(str(ip_network(word)) for word in words(text))
