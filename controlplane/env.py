"""The one place that reads the environment: every variable, its type, default and meaning."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from apps.files.limits import FIXED, FORM_BYTES, MEBIBYTE, BodyKind, body_limits
from apps.review.queries.weekly.review_words import SECTIONS

PREFIX = "RUNRATE_"
PROJECT_ROOT = Path(__file__).resolve().parent.parent


class BadEnvironment(Exception):
    """A variable has a value that Runrate cannot start with; the message names it."""


def _switch(text: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    return words[text.strip().lower()]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


ROLES = ("finance", "platform", "lead", "viewer")


def _grants(text: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(_grant(each) for each in _words(text))


def _grant(text: str) -> tuple[str, str, str]:
    """`group=role:team` in its parts; a group may itself hold = and :, as names in LDAP do."""
    group, equals, granted = text.rpartition("=")
    role, _, team = granted.partition(":")
    if not equals or not group.strip() or role.strip() not in ROLES:
        raise ValueError(text)
    return group.strip(), role.strip(), team.strip()


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_natural(word) for word in _words(text))


def _some(text: str) -> int:
    number = _natural(text)
    if not number:
        raise ValueError(text)
    return number


def _log_format(text: str) -> str:
    if text not in {"key_value", "json"}:
        raise ValueError(text)
    return text


VERDICT_BUCKETS = (
    *("data_wait", "communication", "checkpoint", "lost", "recovery", "startup", "failed"),
    *("capacity_wait", "idle_after_end", "diverged"),
)


def _shares(text: str) -> tuple[tuple[str, float], ...]:
    return tuple(_share(each) for each in _words(text))


def _share(text: str) -> tuple[str, float]:
    """`data_wait=0.15`: a bucket of training time, and a share of it between 0 and 1."""
    bucket, _, share = text.partition("=")
    if bucket.strip() not in VERDICT_BUCKETS or not 0 < float(share) < 1:
        raise ValueError(text)
    return bucket.strip(), float(share)


def _review_sections(text: str) -> tuple[str, ...]:
    named = _words(text)
    if not set(named) <= set(SECTIONS):
        raise ValueError(text)
    return named


def _at_most(most: int, read: Callable[[str], int]) -> Callable[[str], int]:
    """What `read` reads; a larger number is refused."""

    def bounded(text: str) -> int:
        number = read(text)
        if number > most:
            raise ValueError(text)
        return number

    return bounded


def _folder(text: str) -> str:
    if text and not Path(text).is_dir():
        raise ValueError(text)
    return text


def _body_limits(text: str) -> tuple[tuple[str, int], ...]:
    """`bill=1024`: a kind of body and how many MiB of it are taken."""
    return tuple(_body_limit(word) for word in _words(text))


def _body_limit(text: str) -> tuple[str, int]:
    kind, _, mebibytes = text.partition("=")
    if BodyKind(kind.strip()) in FIXED:
        raise ValueError(text)
    return kind.strip(), _some(mebibytes)


def _place_of_files(text: str) -> str:
    """A folder from the root on, or s3://bucket/prefix; empty: RUNRATE_HOME."""
    scheme, is_address, bucket = text.partition("://")
    if is_address and (scheme != "s3" or not bucket.strip("/")):
        raise ValueError(text)
    if text and not is_address and not Path(text).is_absolute():
        raise ValueError(text)
    return text.rstrip("/")


def _origin(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path not in {"", "/"}:
        raise ValueError(text)
    return text.rstrip("/")


def _mail_server(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ValueError(text)
    return text


def _networks(text: str) -> tuple[str, ...]:
    return tuple(str(ip_network(word)) for word in _words(text))


def _variable(read: Callable[[str], Any], default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"read": read, "meaning": meaning})


@dataclass(frozen=True, slots=True)
class Environment:
    """Every setting that comes from outside; the attribute `home` is `RUNRATE_HOME`, and so on.

    A variable `RUNRATE_X` may also be given as `RUNRATE_X_FILE`, a path whose content is the value.
    """

    home: Path = _variable(
        Path,
        PROJECT_ROOT / "var",
        "where the embedded Postgres, the broker and secrets live; shut to other accounts (0700)",
    )
    database_url: str = _variable(
        str, "", "postgres://user:password@host:port/name; empty runs the embedded Postgres"
    )
    broker_url: str = _variable(
        str, "", "redis:// or amqp:// for Celery; empty uses files under RUNRATE_HOME"
    )
    files: str = _variable(
        _place_of_files,
        "",
        "where uploads, exports and backups lie, the same for every host: a folder (/mnt/runrate) or "
        "s3://bucket/prefix; empty: RUNRATE_HOME",
    )
    largest_bodies: tuple[tuple[str, int], ...] = _variable(
        _body_limits,
        (),
        "how many MiB may be sent at once, by comma: bill=1024,series=128; docs/production.md has "
        "the kinds and what they are without it",
    )
    spool_mib: int = _variable(
        _some,
        2048,
        "MiB of bodies that a web process keeps on disk and in memory at once, of all callers; beyond: 503",
    )
    spool_caller_mib: int = _variable(
        _some, 1024, "MiB of bodies of one token or person that a web process keeps at once"
    )
    secret_key: str = _variable(
        str, "", "Django's signing key; empty makes one and keeps it under RUNRATE_HOME"
    )
    old_secret_keys: tuple[str, ...] = _variable(
        _words,
        (),
        "signing keys of before, by comma: what was sealed or signed with them is still read",
    )
    debug: bool = _variable(_switch, False, "show tracebacks in the browser; never in production")
    allowed_hosts: tuple[str, ...] = _variable(
        _words,
        ("localhost", "127.0.0.1", "[::1]"),
        "host names the web server answers to, by comma",
    )
    trusted_origins: tuple[str, ...] = _variable(
        _words, (), "origins (https://…) that may post forms when behind a proxy, by comma"
    )
    https: bool = _variable(
        _switch, False, "served behind a proxy that speaks https: secure cookies, HSTS, redirect"
    )
    trusted_proxies: int | None = _variable(
        _natural,
        None,
        "proxies in front that write X-Forwarded-For; empty: one with https, else none",
    )
    listen: str = _variable(str, "127.0.0.1:8000", "address and port of the web server")
    web_threads: int = _variable(_natural, 8, "threads of each web process")
    web_processes: int = _variable(_natural, 1, "web processes")
    worker_processes: int = _variable(_natural, 2, "Celery worker processes for sweeps")
    people_processes: int = _variable(
        _some,
        2,
        "worker processes kept free of sweeps, for what a person waits for: files, exports",
    )
    worker_memory_mib: int = _variable(
        _some, 512, "MiB that a worker process may have grown to when its task ends; then a new one"
    )
    web_statement_seconds: int = _variable(
        _natural, 15, "seconds that one statement of a page or a REST answer may take; 0: no limit"
    )
    file_statement_seconds: int = _variable(
        _natural, 300, "the same of CSV, PDF and the files of exports; 0: no limit"
    )
    web_lock_seconds: int = _variable(
        _natural, 10, "seconds that a request waits for what another writes; 0: no limit"
    )
    pass_statement_seconds: int = _variable(
        _natural, 0, "seconds that one statement of a worker's pass may take; 0: no limit"
    )
    hung_after_seconds: int = _variable(
        _natural,
        60,
        "seconds without a sign of life after which `up` kills a process and starts it again; 0: never",
    )
    log_level: str = _variable(str.upper, "INFO", "DEBUG, INFO, WARNING or ERROR")
    log_format: str = _variable(
        _log_format, "key_value", "how lines of the log are written: key_value or json"
    )
    api_reads_per_minute: int = _variable(
        _natural, 600, "REST questions a token or person may ask in a minute"
    )
    api_writes_per_minute: int = _variable(
        _natural, 120, "REST changes a token or person may make in a minute"
    )
    api_events_per_minute: int = _variable(
        _natural, 6000, "requests with job events a token may send in a minute"
    )
    api_quotes_per_minute: int = _variable(
        _natural, 15000, "quotes a token or person may ask in a minute"
    )
    oidc_issuer: str = _variable(
        str, "", "address of an OpenID Connect provider that signs people in; empty: passwords only"
    )
    oidc_client_id: str = _variable(str, "", "what the provider calls this installation")
    oidc_client_secret: str = _variable(str, "", "what the provider gave with the client id")
    oidc_name: str = _variable(str, "single sign-on", "what the sign-in button calls the provider")
    oidc_scopes: tuple[str, ...] = _variable(
        _words, ("openid", "profile", "email"), "scopes asked of the provider, by comma"
    )
    oidc_groups_claim: str = _variable(str, "groups", "the claim that lists a person's groups")
    oidc_groups: tuple[tuple[str, str, str], ...] = _variable(
        _grants,
        (),
        "what groups grant, by comma: group=role or group=role:team; the first gives the role",
    )
    oidc_require_group: bool = _variable(
        _switch, False, "refuse people none of whose groups is listed; else they see nothing"
    )
    oidc_trust_addresses: bool = _variable(
        _switch, False, "believe addresses that the provider does not mark verified"
    )
    tag_keys: tuple[str, ...] = _variable(
        _words, ("project",), "up to five job labels that costs may be grouped by, by comma"
    )
    agent_token_days: int = _variable(
        _natural, 0, "days for which the token of an agent that enrols is good; 0: until revoked"
    )
    finding_floor: int = _variable(
        _natural, 50, "what a change must come to in 30 days, in whole currency, to be reported"
    )
    engineer_hour_cost: int = _variable(
        _natural, 0, "what an engineer's hour costs, in whole currency; 0: not known"
    )
    publish_waste: bool = _variable(_switch, False, "show every team each team's waste")
    verdict_shares: tuple[tuple[str, float], ...] = _variable(
        _shares,
        (),
        "from which share of a run's time on a verdict is said, by comma: data_wait=0.15; "
        "docs/training.md has the defaults",
    )
    review_hour: int = _variable(
        _at_most(23, _natural),
        7,
        "the hour of Monday, in the organisation's zone, from which the weekly review is made",
    )
    review_verdict_weeks: int = _variable(
        _at_most(8, _some), 4, "the weeks that a verdict of the weekly review is of, 1 to 8"
    )
    review_shrink_waste: int = _variable(
        _at_most(100, _some),
        40,
        "from how many per cent of waste on a workload's verdict is shrink",
    )
    review_retire_waste: int = _variable(
        _at_most(100, _some),
        95,
        "from how many per cent of waste on a workload's verdict is retire",
    )
    review_least_coverage: int = _variable(
        _at_most(100, _some),
        95,
        "of how many per cent of its time at least the price is known of a workload that earns",
    )
    review_without: tuple[str, ...] = _variable(
        _review_sections,
        (),
        "sections of the weekly review that are left out, by comma; docs/weekly-review.md has them",
    )
    pdf_fonts: str = _variable(
        _folder,
        "",
        "a folder of TrueType or OpenType fonts for letters in PDFs that Inter lacks, as of Chinese; "
        "the same for worker and commands",
    )
    token_weights: tuple[int, ...] = _variable(
        _numbers,
        (10, 1, 40),
        "the work of a computed prompt token, a cached one and an output token, by which a "
        "service's hour is divided where its engine tells no times",
    )
    keep_window_days: int = _variable(
        _some,
        14,
        "days for which agents' windows are kept, and a day less for which they are taken; at least 14",
    )
    keep_usage_months: int = _variable(
        _some, 25, "months for which usage hours are kept, at least 2"
    )
    keep_quote_days: int = _variable(
        _some,
        90,
        "days for which quotes are kept that no job or run took, at least 31; taken ones stay, for calibration",
    )
    site_url: str = _variable(
        _origin, "", "where people open Runrate (https://…), for links in messages; empty: no links"
    )
    mail_url: str = _variable(
        _mail_server,
        "",
        "smtp://user:password@host:587?starttls=yes or smtps://host:465 for alerts; empty: no mail",
    )
    mail_from: str = _variable(str, "runrate@localhost", "the sender of mails")
    webhook_networks: tuple[str, ...] = _variable(
        _networks,
        (),
        "networks (10.20.0.0/16) that webhooks may be in though they are not public, by comma; "
        "plain http is for these alone",
    )


def environment(variables: Mapping[str, str] | None = None) -> Environment:
    """Read `variables` (the process's own when None).

    Raises BadEnvironment for a value of the wrong type and for a RUNRATE_ name nobody reads.
    """
    source = os.environ if variables is None else variables
    known = {PREFIX + each.name.upper(): each for each in fields(Environment)}
    _refuse_unknown(source, known)
    values = {}
    for name, each in known.items():
        text = _text_of(name, source)
        if text is not None:
            values[each.name] = _read(name, text, each.metadata["read"])
    chosen = Environment(**values)
    if len(chosen.tag_keys) > 5:
        raise BadEnvironment("RUNRATE_TAG_KEYS names more than five labels")
    if len(chosen.token_weights) != 3 or not any(chosen.token_weights):
        raise BadEnvironment("RUNRATE_TOKEN_WEIGHTS has three whole numbers, not all 0")
    if chosen.keep_window_days < 14 or chosen.keep_usage_months < 2:
        raise BadEnvironment(
            "RUNRATE_KEEP_WINDOW_DAYS is at least 14 (agents keep what is 12 days old), "
            "RUNRATE_KEEP_USAGE_MONTHS at least 2"
        )
    if chosen.keep_quote_days < 31:
        raise BadEnvironment(
            "RUNRATE_KEEP_QUOTE_DAYS is at least 31 (a run may take its quote for 30)"
        )
    _refuse_small_spool(chosen)
    if chosen.oidc_issuer and not (chosen.oidc_client_id and chosen.oidc_client_secret):
        raise BadEnvironment("RUNRATE_OIDC_ISSUER needs RUNRATE_OIDC_CLIENT_ID and _CLIENT_SECRET")
    return chosen


def _refuse_small_spool(chosen: Environment) -> None:
    largest = max(body_limits(dict(chosen.largest_bodies)).values()) + FORM_BYTES
    if min(chosen.spool_mib, chosen.spool_caller_mib) * MEBIBYTE < largest:
        raise BadEnvironment(
            "RUNRATE_SPOOL_MIB and RUNRATE_SPOOL_CALLER_MIB must have room for the largest body of "
            f"RUNRATE_LARGEST_BODIES: {-(-largest // MEBIBYTE)} MiB"
        )


def _refuse_unknown(source: Mapping[str, str], known: Mapping[str, object]) -> None:
    for name in source:
        bare = name.removesuffix("_FILE")
        if name.startswith(PREFIX) and bare not in known and name not in FOR_OTHERS:
            raise BadEnvironment(f"{name} is not a setting of Runrate; see docs/settings.md")


FOR_OTHERS = frozenset({"RUNRATE_HYPOTHESIS", "RUNRATE_URL", "RUNRATE_TOKEN", "RUNRATE_TEAM"})
"""Names that belong to the test suite, the agent or the SDK and may stand in the same shell."""


def _text_of(name: str, source: Mapping[str, str]) -> str | None:
    path = source.get(name + "_FILE")
    if path is None:
        return source.get(name)
    if name in source:
        raise BadEnvironment(f"{name} and {name}_FILE are both set; keep one")
    try:
        return Path(path).read_text().strip()
    except OSError as problem:
        raise BadEnvironment(f"{name}_FILE: cannot read {path}: {problem.strerror}") from problem


def _read(name: str, text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text)
    except (ValueError, KeyError) as problem:
        raise BadEnvironment(f"{name} cannot be {text!r}") from problem
