"""The one place that reads the environment: every variable, its type, default and meaning."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from apps.files.limits import FORM_BYTES, MEBIBYTE, body_limits
from controlplane import env_values as values

PREFIX = "RUNRATE_"
PROJECT_ROOT = Path(__file__).resolve().parent.parent


class BadEnvironment(Exception):
    """A variable has a value that Runrate cannot start with; the message names it."""


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
        values.place_of_files,
        "",
        "where uploads, exports and backups lie, the same for every host: a folder (/mnt/runrate) or "
        "s3://bucket/prefix; empty: RUNRATE_HOME",
    )
    largest_bodies: tuple[tuple[str, int], ...] = _variable(
        values.body_limits,
        (),
        "how many MiB may be sent at once, by comma: bill=1024,series=128; "
        "kinds and defaults: docs/guides/production.md",
    )
    spool_mib: int = _variable(
        values.some,
        2048,
        "MiB of bodies that a web process keeps on disk and in memory at once, of all callers; beyond: 503",
    )
    spool_caller_mib: int = _variable(
        values.some, 1024, "MiB of bodies of one token or person that a web process keeps at once"
    )
    secret_key: str = _variable(
        str, "", "Django's signing key; empty makes one and keeps it under RUNRATE_HOME"
    )
    old_secret_keys: tuple[str, ...] = _variable(
        values.words,
        (),
        "signing keys of before, by comma: what was sealed or signed with them is still read",
    )
    debug: bool = _variable(
        values.switch, False, "show tracebacks in the browser; never in production"
    )
    allowed_hosts: tuple[str, ...] = _variable(
        values.words,
        ("localhost", "127.0.0.1", "[::1]"),
        "host names the web server answers to, by comma",
    )
    trusted_origins: tuple[str, ...] = _variable(
        values.words, (), "origins (https://…) that may post forms when behind a proxy, by comma"
    )
    https: bool = _variable(
        values.switch,
        False,
        "served behind a proxy that speaks https: secure cookies, HSTS, redirect",
    )
    trusted_proxies: int | None = _variable(
        values.natural,
        None,
        "proxies in front that write X-Forwarded-For; empty: one with https, else none",
    )
    listen: str = _variable(str, "127.0.0.1:8000", "address and port of the web server")
    web_threads: int = _variable(values.natural, 8, "threads of each web process")
    web_processes: int = _variable(values.natural, 1, "web processes")
    worker_processes: int = _variable(values.natural, 2, "Celery worker processes for sweeps")
    people_processes: int = _variable(
        values.some,
        2,
        "worker processes kept free of sweeps, for what a person waits for: files, exports",
    )
    worker_memory_mib: int = _variable(
        values.some,
        512,
        "MiB that a worker process may have grown to when its task ends; then a new one",
    )
    web_statement_seconds: int = _variable(
        values.natural,
        15,
        "seconds that one statement of a page or a REST answer may take; 0: no limit",
    )
    file_statement_seconds: int = _variable(
        values.natural, 300, "the same of CSV, PDF and the files of exports; 0: no limit"
    )
    web_lock_seconds: int = _variable(
        values.natural, 10, "seconds that a request waits for what another writes; 0: no limit"
    )
    pass_statement_seconds: int = _variable(
        values.natural, 0, "seconds that one statement of a worker's pass may take; 0: no limit"
    )
    hung_after_seconds: int = _variable(
        values.natural,
        60,
        "seconds without a sign of life after which `up` kills a process and starts it again; 0: never",
    )
    log_level: str = _variable(
        str.upper,
        "INFO",
        "DEBUG, INFO, WARNING or ERROR; where unset, WARNING for `manage.py demo` and, in a terminal, "
        "for other commands but `up`",
    )
    log_format: str = _variable(
        values.log_format, "key_value", "how lines of the log are written: key_value or json"
    )
    api_reads_per_minute: int = _variable(
        values.natural, 600, "REST questions a token or person may ask in a minute"
    )
    api_writes_per_minute: int = _variable(
        values.natural, 120, "REST changes a token or person may make in a minute"
    )
    api_events_per_minute: int = _variable(
        values.natural, 6000, "requests with job events a token may send in a minute"
    )
    api_quotes_per_minute: int = _variable(
        values.natural, 15000, "quotes a token or person may ask in a minute"
    )
    oidc_issuer: str = _variable(
        str, "", "address of an OpenID Connect provider that signs people in; empty: passwords only"
    )
    oidc_client_id: str = _variable(str, "", "what the provider calls this installation")
    oidc_client_secret: str = _variable(str, "", "what the provider gave with the client id")
    oidc_name: str = _variable(str, "single sign-on", "what the sign-in button calls the provider")
    oidc_scopes: tuple[str, ...] = _variable(
        values.words, ("openid", "profile", "email"), "scopes asked of the provider, by comma"
    )
    oidc_groups_claim: str = _variable(str, "groups", "the claim that lists a person's groups")
    oidc_groups: tuple[tuple[str, str, str], ...] = _variable(
        values.grants,
        (),
        "what groups grant, by comma: group=role or group=role:team; the first gives the role",
    )
    oidc_require_group: bool = _variable(
        values.switch, False, "refuse people none of whose groups is listed; else they see nothing"
    )
    oidc_trust_addresses: bool = _variable(
        values.switch, False, "believe addresses that the provider does not mark verified"
    )
    tag_keys: tuple[str, ...] = _variable(
        values.words, ("project",), "up to five job labels that costs may be grouped by, by comma"
    )
    finding_floor: int = _variable(
        values.natural,
        50,
        "what a change must come to in 30 days, in whole currency, to be reported",
    )
    unproven_percent: int = _variable(
        values.at_most(100, values.natural), 100,
        "what a portfolio may commit to for over three times its history, in per cent of the quietest day's highest hour",
    )  # fmt: skip
    engineer_hour_cost: int = _variable(
        values.natural, 0, "what an engineer's hour costs, in whole currency; 0: not known"
    )
    publish_waste: bool = _variable(values.switch, False, "show every team each team's waste")
    verdict_shares: tuple[tuple[str, float], ...] = _variable(
        values.shares,
        (),
        "from which share of a run's time on a verdict is said, by comma: data_wait=0.15; "
        "defaults: docs/concepts/training.md",
    )
    token_weights: tuple[int, ...] = _variable(
        values.numbers,
        (10, 1, 40),
        "the work of a computed prompt token, a cached one and an output token, by which a "
        "service's hour is divided where its engine tells no times",
    )
    gl_codes: tuple[tuple[str, str], ...] = _variable(
        values.gl_codes,
        (),
        "codes of your ledger for the journal's accounts, by comma: node_hour=6120,tax=2310; "
        "accounts: docs/guides/close.md",
    )
    aws_external_id: str = _variable(
        str,
        "",
        "the external id with which roles of AWS are assumed, where their trust policies ask for one",
    )
    review_hour: int = _variable(
        values.at_most(23, values.natural),
        7,
        "the hour of Monday, in the organisation's zone, from which the weekly review is made",
    )
    review_verdict_weeks: int = _variable(
        values.at_most(8, values.some), 4, "weeks that a verdict of the weekly review is of, 1 to 8"
    )
    review_shrink_waste: int = _variable(
        values.at_most(100, values.some),
        40,
        "from how many per cent of waste on a workload's verdict is shrink",
    )
    review_retire_waste: int = _variable(
        values.at_most(100, values.some),
        95,
        "from how many per cent of waste on a workload's verdict is retire",
    )
    review_least_coverage: int = _variable(
        values.at_most(100, values.some),
        95,
        "of how many per cent of its time at least the price is known of a workload that earns",
    )
    review_without: tuple[str, ...] = _variable(
        values.review_sections,
        (),
        "sections of the weekly review that are left out, by comma: docs/guides/weekly-review.md",
    )
    pdf_fonts: str = _variable(
        values.folder,
        "",
        "a folder of TrueType or OpenType fonts for letters in PDFs that Inter lacks, as of Chinese; "
        "the same for worker and commands",
    )
    agent_token_days: int = _variable(
        values.natural,
        0,
        "days for which the token of an agent that enrols is good; 0: until revoked",
    )
    most_gpus_per_node: int = _variable(
        values.some,
        16,
        "GPUs that a node may report whose pool does not say its instance type; more wait for a person",
    )
    most_slices_per_gpu: int = _variable(
        values.some,
        8,
        "slices that a GPU may report whose model is not known; more wait for a person",
    )
    most_holders_per_gpu: int = _variable(
        values.some,
        256,
        "holders that a GPU, or a slice, may report in an hour; more wait for a person",
    )
    most_labels_per_job: int = _variable(
        values.some, 64, "labels that agents may give a job; more wait for a person"
    )
    most_new_names: int = _variable(
        values.some,
        10_000,
        "new holders and GPUs together that a node may name in a day; more wait for a person",
    )
    stale_price_days: int = _variable(
        values.some,
        60,
        "days after which a spot price that nobody said again is not used for offers, quotes, moves and portfolios",
    )
    keep_window_days: int = _variable(
        values.some,
        14,
        "days for which agents' windows are kept, and a day less for which they are taken; at least 14",
    )
    keep_usage_months: int = _variable(
        values.some, 25, "months for which usage hours are kept, at least 2"
    )
    keep_quote_days: int = _variable(
        values.some,
        90,
        "days for which quotes are kept that no job or run took, at least 31; taken ones stay, for calibration",
    )
    backup_every_hours: int = _variable(
        values.natural, 0, "hours between two backups that are made by themselves; 0: none"
    )
    backup_keep_daily: int = _variable(
        values.natural, 7, "days of which the newest backup is kept; the newest of all always is"
    )
    backup_keep_weekly: int = _variable(values.natural, 4, "the same of weeks")
    backup_keep_monthly: int = _variable(values.natural, 6, "the same of months")
    site_url: str = _variable(
        values.origin,
        "",
        "where people open Runrate (https://…), for links in messages; empty: no links",
    )
    mail_url: str = _variable(
        values.mail_server,
        "",
        "smtp://user:password@host:587?starttls=yes or smtps://host:465 for alerts; empty: no mail",
    )
    mail_from: str = _variable(str, "runrate@localhost", "the sender of mails")
    webhook_networks: tuple[str, ...] = _variable(
        values.networks,
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
    chosen_values = {}
    for name, each in known.items():
        text = _text_of(name, source)
        if text is not None:
            chosen_values[each.name] = _read(name, text, each.metadata["read"])
    chosen = Environment(**chosen_values)
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
    return chosen if chosen.database_url else replace(chosen, database_url=_moved_to(chosen.home))


MOVED_TO = "database_url"
"""The file under RUNRATE_HOME in which `manage.py move_database` names the database that took the embedded one's place."""


def _moved_to(home: Path) -> str:
    try:
        return (home.expanduser() / MOVED_TO).read_text().strip()
    except FileNotFoundError:
        return ""
    except OSError as problem:
        raise BadEnvironment(f"{home / MOVED_TO} cannot be read: {problem.strerror}") from problem


def is_database_set(variables: Mapping[str, str] | None = None) -> bool:
    """Return whether the environment names the database, and not the file that a move left (`variables`: the process's own when None)."""
    return bool(_text_of(PREFIX + "DATABASE_URL", os.environ if variables is None else variables))


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
            raise BadEnvironment(f"{name} is no setting: docs/reference/settings.md has them")


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
