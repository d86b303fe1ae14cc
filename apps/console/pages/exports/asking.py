"""The form by which an export is asked for, and what was entered in it with ids for names."""

from collections.abc import Mapping
from typing import Any

from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import PickField, TextField, TicksField
from apps.console.kit.request import Context
from apps.economics.states import State
from apps.ledger.actions.exports import NewExport
from apps.ledger.queries.export_scope import ExportScope, chosen_ids, parse_export_window
from apps.ledger.queries.exports import ExportWhat, FileForm
from apps.show.words import STATES as WORDS_OF_STATES

LONGEST_NAMES = 500
WHATS = {
    "lines": "Lines, of every hour",
    "job_days": "Jobs, by day",
    "days": "Teams, by day",
    "service_days": "Services by feature, by day",
    "run_days": "Training runs by where their time went, by day",
}
STATES = {word.key: word.label for word in WORDS_OF_STATES if word.key.upper() in State.__members__}
FORMS = {"csv": "CSV, gzipped", "parquet": "Parquet"}


class ExportForm(ChangeForm):
    """Form of an export: which rows of which days, as which file."""

    what = PickField("Rows", WHATS, "lines carry the evidence; all others are their sums or parts")
    form = PickField("File", FORMS, "the same rows; Parquet knows numbers and dates", "csv")
    window = TextField(
        "Period", "lastmonth, 7d, 2026-07 or 2026-07-01/2026-07-15", initial="lastmonth"
    )
    team = TextField("Teams", "names, by comma; empty: all that you see", longest=LONGEST_NAMES)
    workload = TextField("Workloads", "names, by comma", longest=LONGEST_NAMES)
    pool = TextField("Pools", "names, by comma", longest=LONGEST_NAMES)
    state = TicksField("States", STATES, "None ticked: all.")


def wanted_export(entered: Mapping[str, Any], context: Context) -> NewExport:
    """Return the export that was entered, with ids for names. Refuses ExportRefused."""
    names: dict[str, Any] = {
        name: tuple(part.strip() for part in entered[name].split(",") if part.strip())
        for name in ("team", "workload", "pool")
    }
    names["state"] = tuple(entered["state"])
    wanted_rows = ExportScope(window=entered["window"] or "lastmonth", **names)
    return NewExport(
        ExportWhat(entered["what"]),
        parse_export_window(wanted_rows.window, context.at),
        asked=wanted_rows.words(),
        chosen=chosen_ids(wanted_rows, context.viewer),
        form=FileForm(entered["form"]),
    )
