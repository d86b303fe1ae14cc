"""Page values with every part filled, made by hand, for tests of how pages look."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apps.accounts.queries import OrganisationFact, Viewer
from apps.console.kit.frame import Frame
from apps.console.kit.request import Context
from apps.console.pages.setup.pages import setup_page
from apps.console.pages.setup.questions import KINDS, SilentNode, UnconfirmedNode
from apps.fleet.queries import PoolFact
from apps.fleet.queries.agents import SilentAgentNode
from apps.ledger.queries.open_questions import UnclaimedWork, UnpricedPool
from apps.telemetry.queries.window_errors import RejectionCount
from apps.workloads.queries.holding import UnknownNodeName
from apps.workloads.queries.ownership import AccountWithoutOwner

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
DOLLAR = 1_000_000
HOUR = 3_600_000


def make_frame(here="overview"):
    return Frame(organisation="Demo organisation", person="ada", here=here, setup_questions=7)


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
        id=1,
        name="l40s-lab",
        provider="own",
        purchase_option="owned",
        gpu_model="NVIDIA L40S",
        gpus_per_node=8,
    )
    waiting = {
        "unconfirmed_nodes": [
            UnconfirmedNode(
                7, "lab-03", "l40s-lab", "4 × NVIDIA L40S", "8 × NVIDIA L40S", ("GPU-8f3a",), AT
            )
        ],
        "unknown_nodes": [
            UnknownNodeName(1, "atlas", f"gpu-{number}", 12, AT, None, 8, "h100")
            for number in range(12)
        ],
        "nodes_without_gpus": [UnknownNodeName(1, "atlas", "login-1", 3, AT, None)],
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
    unasked = {kind.key: [] for kind in KINDS}
    return setup_page(make_setup_context(), unasked | waiting, {"1": "l40s-lab"})


def make_answered_setup_page():
    return setup_page(make_setup_context(), {kind.key: [] for kind in KINDS}, {})
