"""What people leave behind them at their desks: a rule of bills, a file asked for, a token for machines."""

import contextlib
import io
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from django.core.management import call_command

from apps.accounts.queries import person_of_address
from apps.economics.billing import BillRowRule
from apps.economics.hours import HOUR
from apps.fleet.actions.joining import NewJoinToken, make_join_token
from apps.ledger import queries as ledger
from apps.ledger.actions.bill_rules import add_bill_rule
from apps.ledger.actions.exports import NewExport, request_export
from apps.ledger.queries.exports import Asker, ExportWhat
from apps.planning.actions.series_uploads import keep_series_file, request_series_reading
from apps.planning.queries.series import POOL, QUEUE_WAIT
from apps.planning.queries.series_imports import series_import
from apps.planning.tasks.series_uploads import work_on_series
from apps.uploads.files import UploadDraft
from controlplane.demo.company import Company
from controlplane.demo.database import MANAGES, SIGN_IN

GOOD_FOR = timedelta(days=30)
SACCT = (
    "JobIDRaw", "Cluster", "Partition", "Account", "User", "Submit", "Start", "End", "State", "NCPUS",
    "AllocTRES", "NodeList", "JobName",
)  # fmt: skip
PREPARED = ("dedup", "tokenise", "shard")
"""Jobs that prepare data: on processors alone."""


def say_whose_transfer_it_is(company: Company) -> None:
    """Finance says whose the data transfer on the cloud's bills is."""
    rule = BillRowRule(id=0, service="AWS Data Transfer", team_id=company.team("Search"))
    add_bill_rule(rule=rule, at=company.week.at)


def let_machines_join(company: Company) -> None:
    """The platform makes a token with which the machines of the next rack will join."""
    token = NewJoinToken(
        name="next rack of atlas",
        cluster_id=company.cluster("atlas"),
        node_names=("atlas-h100-*",),
        expires_at=company.week.at + GOOD_FOR,
        pool_id=company.pool("h100-on-demand"),
    )
    platform = person_of_address(MANAGES)
    make_join_token(token=token, at=company.week.at, made_by_id=platform)


def ask_for_files(company: Company) -> None:
    """Finance and the platform ask for the lines of the last week as a file."""
    week = company.week
    calendar = ledger.calendar_of("UTC", 1, week.at)
    window = ledger.window_of(f"{week.starts_at.date()}/{week.ends_at.date()}", calendar)
    for address in (SIGN_IN, MANAGES):
        wanted = NewExport(what=ExportWhat.LINES, window=window, asked={}, chosen={})
        asker = Asker(person_id=person_of_address(address))
        request_export(wanted=wanted, asker=asker, at=week.at)


def import_accounting(company: Company) -> None:
    """Jobs that need no GPU come as a file of Slurm's accounting."""
    rows = ["|".join(SACCT)]
    for number, name in enumerate(PREPARED):
        began_at = company.week.starts_at + timedelta(hours=20 * number)
        moments = map(_told, (began_at, began_at, began_at + timedelta(hours=6)))
        rows.append(
            f"{39000 + number}|atlas|cpu|llm-pretrain|ines|{'|'.join(moments)}|COMPLETED|48|"
            f"billing=48,cpu=48,node=1|atlas-cpu-01|{name}"
        )
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = Path(folder) / f"sacct-{company.week.starts_at:%Y-%m-%d}.psv"
        path.write_text("\n".join(rows) + "\n")
        call_command("import_sacct", str(path), "--cluster", "atlas")


def send_history(company: Company) -> None:
    """The platform sends queue waits from before, and has not said yes to them."""
    hours = (company.since - timedelta(hours=number) for number in range(14 * 24, 0, -1))
    rows = [f"{hour:%Y-%m-%d %H:%M},{5 + hour.hour % 12}" for hour in hours if hour.day % 9]
    content = "\n".join(
        ["time,minutes", *rows, f"{company.since - HOUR:%Y-%m-%d %H:%M},n/k"]
    ).encode()
    draft = UploadDraft()
    draft.write(content)
    draft.publish()
    file = draft.stored("queue-waits-before.csv")
    platform = person_of_address(MANAGES)
    import_id = keep_series_file(upload=file, person_id=platform, at=company.week.at)
    work_on_series()
    fact = series_import(import_id)
    if fact is None or not fact.asked:
        return
    series = [QUEUE_WAIT, POOL, str(company.pool("h100-on-demand"))]
    asked = {**fact.asked, "series": series, "unit": "minutes"}
    request_series_reading(import_id=import_id, reading=asked, at=company.week.at)
    work_on_series()


def _told(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}"
