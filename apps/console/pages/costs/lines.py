"""Lines as a table and as CSV."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.html import format_html, format_html_join

from apps.accounts import queries as accounts
from apps.console.kit.cells import GPU_HOURS, INSTANT, MONEY, Locale, titled
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.table import Table, TableSection
from apps.console.pages.costs.question import CostQuery
from apps.console.pages.costs.sums import Sums, state_key
from apps.economics.money import sum_of_known
from apps.economics.states import Evidence, Flag, State
from apps.fleet import queries as fleet
from apps.ledger.queries.drill import LineRow
from apps.show.amounts import gpu_hours
from apps.show.money import full_amount
from apps.show.time import machine
from apps.show.words import Word, flag_words, state_words, status_words
from apps.tables.column import CURRENCY_COLUMN, Column


@dataclass(frozen=True, slots=True)
class LinesOf:
    """The file and sums of a set of lines: their CSV, all they sum to, and how many to show."""

    file: CsvFile
    whole: Sums
    most: int


def line_section(
    cost_query: CostQuery, line_rows: Sequence[LineRow], section_info: LinesOf
) -> TableSection:
    """The newest lines, as many as fit, in the order asked for, over their total."""
    rows, is_cut = line_rows[: section_info.most], len(line_rows) > section_info.most
    about, remark = "each with everything behind it", ""
    micros = sum_of_known(row.micros for row in rows)
    pools = fleet.pools()
    milliseconds = sum(_gpu_milliseconds(row, pools) for row in rows)
    if is_cut:
        about = (
            f"the latest {len(rows)} of the period, in this order; a shorter period or the CSV has"
            " the rest"
        )
        remark = (
            f"All of the period: {gpu_hours(section_info.whole.gpu_milliseconds)} GPU-hours,"
            f" {full_amount(section_info.whole.total, cost_query.currency)}"
        )
    section = _line_table(cost_query).section(
        rows, cost_query.context, about=about, remark=remark, csv=section_info.file
    )
    total = format_html(
        '<th scope="row">{}</th><td></td><td></td><td></td><td class="number-cell">{}</td>'
        '<td class="number-cell">{}</td>',
        f"These {len(rows)} lines" if is_cut else "Total",
        gpu_hours(milliseconds),
        full_amount(micros, cost_query.currency),
    )
    return replace(section, foot=total)


def lines_file(
    cost_query: CostQuery, name: str, line_rows: Callable[[], Sequence[LineRow]]
) -> CsvFile:
    """Every line that is found, with every micro-unit."""
    return _line_table(cost_query).file(name, cost_query.context, line_rows)


def flag_keys(flags: Flag) -> list[str]:
    """The names of the bits that are set."""
    return [flag.name.lower() for flag in flags if flag.name]


def evidence_keys(evidence: Evidence) -> list[str]:
    """The names of the bits that are set."""
    return [flag.name.lower() for flag in evidence if flag.name]


def flags_in_words(flags: Flag) -> tuple[Word, ...]:
    """Return the flags that a reader must know beside the state, in words."""
    return tuple(flag_words(key) for key in flag_keys(flags))


def state_cell(state: State | None, flags: Flag) -> str:
    """A state with its explanation, and what to know beside it."""
    words = state_words(state_key(state))
    more = [(flag.explanation, flag.label.lower()) for flag in flags_in_words(flags)]
    return titled(words.label, words.explanation) + format_html_join(
        "", '<small title="{}">{}</small>', more
    )


def _line_table(cost_query: CostQuery) -> Table[LineRow]:
    teams, pools = {team.id: team for team in accounts.teams()}, fleet.pools()

    def href(row: LineRow) -> str:
        return cost_query.down("costs-line", f"{row.month:%Y-%m}", row.id)

    def gpu_time(row: LineRow) -> int:
        return _gpu_milliseconds(row, pools)

    return Table(
        name="lines",
        title="Lines",
        sort="lines",
        default_sort="-hour",
        per_page=200,
        csv_first=CSV_ORDER,
        columns=(
            Column(
                "hour", "Hour from", lambda row: row.hour, INSTANT, href=href,
                written=lambda row, _: machine(row.hour),
            ),
            Column("node", "Node", lambda row: row.node or None, missing="–"),
            Column(
                "state", "State", lambda row: state_key(row.state),
                order=lambda row: state_words(state_key(row.state)).label,
                shown=lambda row, _: state_cell(row.state, row.flags),
            ),
            Column("status", "Status", lambda row: row.status, shown=_status_shown),
            Column("gpu_hours", "GPU-hours", gpu_time, GPU_HOURS),
            Column("cost", "Cost", lambda row: row.micros, MONEY, href=href),
            CURRENCY_COLUMN,
            Column("pool", "", lambda row: pools[row.pool_id].name if row.pool_id else ""),
            Column("team", "", lambda row: teams[row.team_id].name),
            Column("cost_centre", "", lambda row: teams[row.team_id].cost_centre),
            Column("kind", "", lambda row: row.kind),
            Column("flags", "", lambda row: " ".join(flag_keys(row.flags))),
            Column("evidence", "", lambda row: " ".join(evidence_keys(row.evidence))),
            Column("basis", "", lambda _: str(cost_query.question.basis)),
            Column("line", "", lambda row: f"{row.month:%Y-%m}/{row.id}"),
            Column("shared_cost", "", lambda row: row.shared_cost),
            Column("shared_by", "", lambda row: row.shared_by),
            Column("core_hours", "", lambda row: row.unit_milliseconds - gpu_time(row), GPU_HOURS),
        ),
    )  # fmt: skip


def _gpu_milliseconds(row: LineRow, pools: Mapping[int, fleet.PoolFact]) -> int:
    """The time of cores is no GPU time."""
    is_core = row.pool_id is not None and pools[row.pool_id].counts_cores
    return 0 if is_core else row.unit_milliseconds


def _status_shown(row: LineRow, _: Locale) -> str:
    words = status_words(row.status)
    return titled(words.label, words.explanation)


CSV_ORDER = (
    *("hour", "node", "pool", "team", "cost_centre", "kind", "status", "state", "flags"),
    *("evidence", "cost", "currency", "basis", "gpu_hours", "line", "shared_cost", "shared_by"),
)
