"""Page values with every part filled, made by hand, for tests of how pages look."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from apps.accounts.queries import OrganisationFact, Viewer
from apps.console.kit.chart import DailyChart, DayRow, Figure
from apps.console.kit.frame import Choice, EmptyState, Filter, Frame, Link, Step, Under
from apps.console.kit.request import Context
from apps.console.kit.table import ColumnHeading
from apps.console.pages import overview
from apps.console.pages.setup.pages import setup_page
from apps.console.pages.setup.questions import KINDS, SilentNode, UnconfirmedNode
from apps.fleet.queries import PoolFact
from apps.fleet.queries.agents import SilentAgentNode
from apps.ledger.queries.open_questions import UnclaimedWork, UnpricedPool
from apps.show.charts import DailySeries, daily_cost_by_state
from apps.show.sparkline import sparkline
from apps.show.strip import strip_of_states
from apps.show.time import weekday
from apps.show.words import STATES
from apps.telemetry.queries.remarks import RejectionCount
from apps.workloads.queries.holding import UnknownNodeName
from apps.workloads.queries.ownership import AccountWithoutOwner

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
DOLLAR = 1_000_000
HOUR = 3_600_000


def make_frame(here="overview"):
    return Frame(organisation="Demo organisation", person="ada", here=here, setup_questions=7)


def make_filters():
    periods = (Choice("7d", "Last 7 days", is_chosen=True), Choice("month", "November 2026"))
    teams = (Choice("", "All teams", is_chosen=True), Choice("3", "Search & ranking"))
    return (Filter("window", "Period", periods), Filter("team", "Team", teams))


def make_chart():
    days = [date(2026, 11, 14) + timedelta(days=index) for index in range(7)]
    states = STATES[:6]
    series = [
        DailySeries(state, ((9 - rank) * 100 * DOLLAR,) * 7, (0,) * 6 + (10 * DOLLAR,))
        for rank, state in enumerate(states)
    ]
    rows = tuple(
        DayRow(
            weekday(day), tuple(row.settled[0] for row in series), 3900 * DOLLAR, day == days[-1]
        )
        for day in days
    )
    return DailyChart(
        title="Active is about a quarter of every day.",
        unit="US dollars a day, effective",
        figure=daily_cost_by_state(days, series, "USD"),
        states=states,
        rows=rows,
        total=DayRow("Total", rows[0].micros, 27_300 * DOLLAR),
        has_provisional=True,
    )


def make_team_row(name, **given):
    return overview.TeamRow(
        **{
            "name": name,
            "cost_micros": 8_114_520_000,
            "now_micros": 8_100 * DOLLAR,
            "before_micros": 7_500 * DOLLAR,
            "strip": strip_of_states({"active": 72, "held_idle": 20, "unobserved": 8}),
            "worked_ratio": 0.72,
            "waste_micros": 1_622_900_000,
            "is_partly_unpriced": False,
            "gpu_milliseconds": 3_421 * HOUR,
            "gpu_hour_micros": 2_371_971,
            **given,
        }
    )


def make_unknown_team_row(name):
    return make_team_row(
        name,
        cost_micros=None,
        now_micros=None,
        before_micros=None,
        strip=None,
        worked_ratio=None,
        waste_micros=None,
        is_partly_unpriced=False,
        gpu_hour_micros=None,
        note="unpriced",
    )


def make_overview_page(**given):
    columns = tuple(
        ColumnHeading(key, text, f"?sort={key}", "descending" if key == "cost" else "")
        for key, text in (
            ("team", "Team"),
            ("cost", "Cost"),
            ("change", "Change"),
            ("bought", "By state"),
            ("waste", "Waste"),
            ("gpu_hours", "GPU-hours"),
            ("unit_cost", "$ per GPU-hour"),
        )
    )
    spark = sparkline([1, 2, None, 3, 4], provisional_from=4, words="Spend per day")
    values = {
        "frame": make_frame(),
        "finding": "The last 7 days cost $18,210, and 31 % of it was waste.",
        "currency": "USD",
        "filters": make_filters(),
        "under": Under(
            status="estimated",
            basis="effective",
            currency="USD",
            period="14 to 20 November 2026",
            coverage_ratio=0.97,
            settled_to=AT,
            pending_hours=2,
            zone=UTC,
        ),
        "figures": (
            Figure("Spend", "$18.2k", "on the 7 days before", "estimated", "+8 %", spark),
            Figure("Active", "69 %", "of what was spent", "estimated"),
            Figure("Waste", "$5.65k", "idle while allocated $3.1k", "estimated"),
            Figure("Not known", "$731", "unobserved", "estimated", is_unknown=True),
        ),
        "chart": make_chart(),
        "teams": overview.TeamTable(
            columns=columns,
            rows=(make_team_row("Foundation"), make_unknown_team_row("Research")),
            total=make_team_row("Total"),
            csv_href="/api/v1/costs?group_by=team",
            states=STATES[:6],
        ),
        "notices": (
            overview.Notice(
                "unpriced",
                "214 GPU-hours",
                "have no price.",
                Link("Give the pool a rate", "/setup"),
            ),
            overview.Notice("contested", "11 GPU-hours", "were claimed by two jobs at once."),
        ),
    }
    return overview.OverviewPage(**{**values, **given})


def make_empty_page():
    steps = (
        Step("See it with a simulated fleet:", command="make demo"),
        Step("Then say what the node costs.", link=Link("Setup", "/setup")),
    )
    empty = EmptyState("No measurements yet", "Here you will see what each day cost.", steps)
    return make_overview_page(finding="Nothing has been measured yet.", under=None, empty=empty)


def make_setup_context():
    platform = Viewer(
        person_id=1,
        name="ada",
        role="platform",
        sees_everything=True,
        team_ids=frozenset(),
        sees_prices=True,
        may_manage=True,
        may_close=False,
    )
    chosen = OrganisationFact("Demo organisation", "USD", "UTC", week_starts_on=1)
    return Context(
        viewer=platform,
        at=AT,
        organisation=chosen,
        zone=ZoneInfo("UTC"),
        frame=make_frame("setup"),
        path="/setup",
    )


def make_setup_page():
    """A page with a question of each kind."""
    pool = PoolFact(
        1, "l40s-lab", None, "own", "", "", "NVIDIA L40S", 8, "gpu", "owned", None, "team"
    )
    waiting = {
        "unconfirmed_nodes": [
            UnconfirmedNode(
                7, "lab-03", "l40s-lab", "4 × NVIDIA L40S", "8 × NVIDIA L40S", ("GPU-8f3a",), AT
            )
        ],
        "unknown_nodes": [
            UnknownNodeName(1, "atlas", f"gpu-{number}", 12, AT, None) for number in range(12)
        ],
        "silent_nodes": [
            SilentNode(SilentAgentNode(4, "gpu-04", 1, AT), "h100", timedelta(hours=7))
        ],
        "unpriced_pools": [UnpricedPool(pool, 214 * HOUR, AT.date())],
        "unclaimed_work": [UnclaimedWork("pid/gpu-02/jupyter", "h100", 3 * HOUR, None, AT)],
        "unowned_accounts": [AccountWithoutOwner(1, "atlas", "account", "misc", 31, 253 * HOUR)],
        "rejected_windows": [
            RejectionCount(
                1, "gpu-04", "worked_seconds", "is 71.2", kept=False, count=4, last_at=AT
            )
        ],
    }
    return setup_page(make_setup_context(), waiting, {"1": "l40s-lab"})


def make_answered_setup_page():
    return setup_page(make_setup_context(), {kind.key: [] for kind in KINDS}, {})
