"""The tables of alerts: all of them, and the steps of one."""

from django.urls import reverse

from apps.console.kit.cells import INSTANT, PROSE, TEXT
from apps.console.kit.table import Table
from apps.console.pages.alerts import words
from apps.review.queries.alerts import (
    KIND_WORDS,
    OPEN,
    SEVERITIES,
    STATE_WORDS,
    STEP_WORDS,
    AlertEntryFact,
    AlertFact,
)
from apps.tables.column import Column

ALERTS = Table[AlertFact](
    "list",
    "Alerts",
    (
        Column(
            "title",
            "What",
            lambda row: row.title,
            PROSE,
            href=lambda row: reverse("alert", args=[row.id]),
        ),
        Column(
            "severity",
            "Severity",
            lambda row: row.severity,
            order=lambda row: SEVERITIES.index(row.severity),
            warns=lambda row: row.state == OPEN and row.severity != SEVERITIES[0],
        ),
        Column("kind", "About", lambda row: KIND_WORDS[row.kind], csv="about"),
        Column("team", "Owner", lambda row: row.team or words.ORGANISATION),
        Column(
            "state",
            "State",
            lambda row: STATE_WORDS[row.state],
            note=lambda row: row.state_name and f"by {row.state_name}",
        ),
        Column("told", "Last raised", lambda row: row.told_at, INSTANT, csv="raised_at"),
        Column("opened", "", lambda row: row.opened_at, INSTANT, csv="opened_at"),
        Column("matter", "", lambda row: row.matter),
        Column("state_reason", "", lambda row: row.state_reason, TEXT),
    ),
    noun=("alert", "alerts"),
    about="{said}, one for each matter; the last raised first",
    sort="sort",
)
ENTRIES = Table[AlertEntryFact](
    "steps",
    "What happened",
    (
        Column("at", "When", lambda row: row.at, INSTANT),
        Column("step", "Step", lambda row: STEP_WORDS[row.step]),
        Column("title", "What it said", lambda row: row.title, PROSE),
        Column("who", "By", lambda row: row.who or words.RUNRATE),
        Column("reason", "Because", lambda row: row.reason, PROSE),
    ),
    noun=("step", "steps"),
    about="{said}; what an alert said stays as it was",
)
