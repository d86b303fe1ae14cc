"""The steps of the first day: how each stands, what shows that, and where it is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.form import FormSection
from apps.console.kit.frame import Link, Step
from apps.console.kit.request import Context
from apps.console.pages.managers import step_for
from apps.console.pages.setup.commands import CHECK, SERVICE, config_command, simulate_command
from apps.console.pages.setup.naming import pool_link
from apps.console.pages.setup.organisation import is_organisation_fixed
from apps.fleet import queries as fleet
from apps.ledger.queries.source_arrivals import SourceArrivals, source_arrivals
from apps.planning.queries.entered import EnteredPlanning, entered_planning
from apps.pricing import queries as pricing
from apps.pricing.queries.owned import pools_owned
from apps.show.amounts import counted
from apps.show.time import duration
from apps.show.words import joined, option_words
from apps.web.queries.wheels import install_command
from apps.workloads import queries as workloads

DONE, WAITING, MISSING, LATER = "Done", "Waiting", "To do", "Later"
MOMENT = timedelta(microseconds=1)
MOST_NAMED = 3
SACCT = (
    "TZ=UTC sacct -a -D -X -S {since} -E now --parsable2 -o JobIDRaw,JobID,Cluster,Partition,"
    "QOS,Account,User,Submit,Start,End,ElapsedRaw,State,ExitCode,NCPUS,AllocTRES,NodeList,JobName "
    "> accounting.psv"
)


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step of the first day: how it stands, what shows that, and how it is done.

    `state` is DONE, WAITING (somebody else is expected to do something), MISSING, or LATER where a
    first dollar does not need it; `forms` do a part of it in place.
    """

    key: str
    title: str
    state: str
    found: str
    how: tuple[Step, ...]
    link: Link | None = None
    forms: tuple[FormSection, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left of it."""
        return self.state == DONE


@dataclass(frozen=True, slots=True)
class SetupFacts:
    """The facts that the steps are judged by, asked once.

    `named` are nodes with GPUs that files name, `unowned` accounts while there is no rule,
    `unpriced` pools without a price now; `told` is what bills and vendors brought.
    """

    at: datetime
    server: str
    is_kept: bool
    has_jobs: bool
    named: Sequence[workloads.UnknownNodeName]
    unowned: Sequence[workloads.AccountWithoutOwner]
    lived: bool
    tokens: dict[str, int]
    agents: fleet.AgentsHeard
    pools: Mapping[int, fleet.PoolFact]
    unpriced: tuple[fleet.PoolFact, ...]
    teams: int
    rules: int
    told: SourceArrivals
    planned: EnteredPlanning
    may_make: bool


def read_setup_facts(context: Context) -> SetupFacts:
    """Return what is there, and at which address programs reach it."""
    at, pools, has_jobs = context.at, fleet.pools(), workloads.has_jobs()
    since = fleet.first_node_started_at()
    named = [name for name in workloads.unknown_nodes() if name.gpus] if has_jobs else []
    rules = sum(rule.is_in_force(at) for rule in workloads.rules())
    spans = pricing.pool_rates(pools, at, at + MOMENT) if pools else {}
    unpriced = [pool for pool in pools.values() if spans[pool.id][0].paid_rate is None]
    planned = pools_owned(at) if unpriced else set()
    return SetupFacts(
        at=at,
        server=context.site,
        is_kept=since is not None or is_organisation_fixed(),
        has_jobs=has_jobs,
        named=named,
        unowned=_accounts_without_owner(named, since, at) if not rules else (),
        lived=since is not None,
        tokens={} if has_jobs else accounts.good_tokens(at),
        agents=fleet.agents_heard(),
        pools=pools,
        unpriced=tuple(pool for pool in unpriced if pool.id not in planned),
        teams=sum(1 for team in accounts.teams() if team.kind == "team"),
        rules=rules,
        told=source_arrivals(),
        planned=entered_planning(),
        may_make=context.viewer.may_manage,
    )


def _accounts_without_owner(
    named: Sequence[workloads.UnknownNodeName], lived_since: datetime | None, at: datetime
) -> list[workloads.AccountWithoutOwner]:
    """Those with GPUs since the first node there was, or is to be; the largest first."""
    begins = [*(name.first_at for name in named), *([lived_since] if lived_since else [])]
    return workloads.unowned_accounts(min(begins), at) if begins else []


def organisation_step(facts: SetupFacts, context: Context) -> GuideStep:
    """Currency and zone, before anything rests on them."""
    present = context.organisation
    settings_text = f"{present.name}: {present.currency}, {present.zone}."
    return GuideStep(
        "organisation",
        "Choose currency and time zone",
        DONE if facts.is_kept else MISSING,
        settings_text
        if facts.is_kept
        else f"{settings_text} Kept for good from the first node or price on.",
        (Step("Amounts are in one currency; days begin in one time zone."),),
        Link("Choose them", reverse("organisation"))
        if facts.may_make and not facts.is_kept
        else None,
    )


def pool_step(facts: SetupFacts) -> GuideStep:
    """A pool, which nodes are of."""
    status_text = "No pool is on record: nodes of one model and one price."
    if facts.pools:
        status_text = f"{counted(len(facts.pools), 'pool is', 'pools are')} on record."
    return GuideStep(
        "pool",
        "Add a pool",
        DONE if facts.pools else MISSING,
        status_text,
        (Step("Its nodes have as many GPUs of one model, and are bought in one way."),),
        pool_link("Add a pool", facts.named, back_to="first-day") if facts.may_make else None,
    )


def nodes_step(facts: SetupFacts) -> GuideStep:
    """Nodes: of a file, by hand, or by themselves."""
    status_text = "No node is on record, so nothing costs anything."
    if facts.lived:
        status_text = "Nodes are on record."
    unknown, of_file = None, Link("Import a file", reverse("imports"))
    if facts.named:
        status_text += (
            f" {counted(len(facts.named), 'node')} with GPUs that jobs name can be chosen."
        )
        unknown = Link("Choose among those", f"{reverse('setup')}#unknown-nodes")
    listed = Link("Write a list", f"{reverse('add-nodes')}?back_to=first-day")
    joined_by = Link("Create a join token", reverse("join-tokens"))
    return GuideStep(
        "nodes",
        "Put nodes on record",
        DONE if facts.lived else MISSING,
        status_text,
        (
            Step("An accounting file names them; then they are chosen.", link=unknown or of_file),
            Step("By hand, or lines of a CSV.", link=listed),
            Step("Or they let themselves in with one token for a cluster.", link=joined_by),
        )
        if facts.may_make
        else (),
        unknown if facts.may_make else None,
    )


def agent_step(facts: SetupFacts) -> GuideStep:
    """An agent, which says what GPUs did."""
    heard = facts.agents
    state, status_text = (
        LATER,
        "No agent is enrolled: what GPUs did is unknown until one measures it.",
    )
    if heard.last_seen_at is not None:
        ago = duration(facts.at - heard.last_seen_at)
        heard_text = f"{heard.heard:,} of {heard.agents:,} agents were heard, the last {ago} ago."
        state, status_text = (
            DONE,
            heard_text if heard.agents > 1 else f"The agent was heard {ago} ago.",
        )
    elif heard.agents:
        agents = counted(heard.agents, "agent is enrolled", "agents are enrolled")
        state, status_text = (
            WAITING,
            f"{agents}; none has reported yet. This page notices the first.",
        )
    return GuideStep(
        "agent",
        "Start an agent",
        state,
        status_text,
        (
            Step(
                "It sends what the GPUs of a node did. On the node, install it:",
                install_command(facts.server, "runrate-agent"),
            ),
            Step("Say where this server is:", config_command(facts.server)),
            Step(
                "Trade a one-time token for the agent’s own:",
                "runrate-agent enrol --token-file invitation",
            ),
            Step("See what works on this node and what does not, in plain words:", CHECK),
            Step(
                "Start it as a service, as a user of its own; on Kubernetes: "
                "agents/agent/kubernetes/daemonset.yaml; docs/guides/agent.md describes both.",
                SERVICE,
            ),
            Step(
                "To try without a GPU, play a day of one node; the file holds its agent’s token:",
                simulate_command(facts.server),
            ),
        ),
        Link("Confirm what it saw", f"{reverse('setup')}#unconfirmed-devices")
        if state == DONE
        else None,
    )


def jobs_step(facts: SetupFacts) -> GuideStep:
    """Jobs, which say who held them."""
    state, status_text = MISSING, "No job is known, so nobody holds anything."
    if facts.has_jobs:
        state, status_text = DONE, "Jobs are known."
    elif facts.tokens.get("jobs"):
        state, status_text = WAITING, "A token for jobs is out; no job has come yet."
    return GuideStep(
        "jobs",
        "Import jobs",
        state,
        status_text,
        (
            Step(
                "Upload what Slurm has on record, or any CSV with one row a job. Whoever runs Slurm "
                "makes such a file by:",
                SACCT.format(since=_month_before(facts.at)),
            ),
        ),
        Link("Import a file", reverse("imports")) if facts.may_make else None,
    )


def price_step(facts: SetupFacts) -> GuideStep:
    """A price for each pool; which one is missing."""
    state, status_text = MISSING, "Nothing has a price, so no cost is known."
    if facts.pools and not facts.unpriced:
        state, status_text = DONE, "Every pool has a price now."
    elif facts.unpriced:
        without = len(facts.unpriced)
        names = joined([pool.name for pool in facts.unpriced[:MOST_NAMED]])
        more = f" and {without - MOST_NAMED} more" if without > MOST_NAMED else ""
        status_text = f"{names}{more} {'has' if without == 1 else 'have'} no price now."
    elif pricing.has_prices():
        state, status_text = WAITING, "There are prices, and no pool yet that they could be of."
    steps = [_price_of(pool) for pool in facts.unpriced[:MOST_NAMED]]
    if not facts.pools:
        steps.append(Step("Each pool gets its price here once it is added."))
    if any(pool.purchase_option == "owned" for pool in facts.unpriced):
        plan = Link("Enter a purchase", reverse("add-owned-plan"))
        steps.append(Step("What was bought costs its depreciation, staff and power.", link=plan))
    public = Link("Public list prices", f"{reverse('public-prices')}?back_to=first-day")
    steps.append(Step("A table of list prices of clouds comes along.", link=public))
    return GuideStep(
        "price",
        "Set a price",
        state,
        status_text,
        tuple(steps),
        Link("All prices", reverse("prices")),
    )


def _price_of(pool: fleet.PoolFact) -> Step:
    """Return the step that says what kind of price is missing, with the form of it."""
    query = urlencode({"pool": pool.id, "back_to": "first-day"})
    machine = pool.instance_type or pool.gpu_model or "its machines"
    how = option_words(pool.purchase_option).lower()
    return Step(
        f"{pool.name}: no price of {machine} of {pool.provider}, {how}, is on record.",
        link=Link(f"Set the price of {pool.name}", f"{reverse('add-rate')}?{query}"),
    )


def team_step(facts: SetupFacts) -> GuideStep:
    """Teams, which costs are charged to."""
    status_text = "No team is on record: all costs are Platform’s or nobody’s."
    if facts.teams:
        status_text = f"{counted(facts.teams, 'team is', 'teams are')} on record."
    return GuideStep(
        "team",
        "Add a team",
        DONE if facts.teams else MISSING,
        status_text,
        (Step("With the cost centre that finance books it to."),),
        Link("Teams and cost centres", reverse("team-tree")),
    )


def owner_step(facts: SetupFacts) -> GuideStep:
    """Rules, which say whose jobs are whose."""
    return GuideStep(
        "owner",
        "Say whose the jobs are",
        DONE if facts.rules else MISSING,
        f"{counted(facts.rules, 'rule')} in force." if facts.rules else "Every job reads Unowned.",
        (
            Step("A rule gives jobs of an account, a user or a partition to a team."),
            *(_owner_of(account, facts) for account in facts.unowned[:MOST_NAMED]),
        ),
        Link("Write a rule", f"{reverse('new-rule')}?back_to=first-day")
        if facts.may_make
        else Link("See whose the jobs are", reverse("unowned")),
    )


def _owner_of(account: workloads.AccountWithoutOwner, facts: SetupFacts) -> Step:
    """An account whose jobs are nobody's, and the form of its rule."""
    bears = {account.bears: account.name} if account.bears else {}
    query = urlencode({"cluster": account.cluster, **bears, "back_to": "first-day"})
    return step_for(
        f"{account.name or 'Nobody named'}: {counted(account.jobs, 'job')} with GPUs on "
        f"{account.cluster}.",
        Link("Whose?", f"{reverse('new-rule')}?{query}"),
        "says whose",
        may=facts.may_make,
    )


def _month_before(at: datetime) -> str:
    """The first day of the month before, which a first file may begin with."""
    return f"{at.date().replace(day=1) - timedelta(days=1):%Y-%m}-01"


def bill_step(facts: SetupFacts) -> GuideStep:
    """A bill, which takes the place of estimates."""
    state, status_text = LATER, "Until then costs are estimates by prices."
    done, held_files = facts.told.bills.get("done", 0), facts.told.bills.get("held", 0)
    if done:
        files = counted(done, "file of a bill is", "files of bills are")
        state, status_text = (
            DONE,
            f"{files} taken in; each bill’s page compares it with the estimate.",
        )
    elif held_files:
        state, status_text = WAITING, "A file is held: rows of it could not be read."
    elif facts.told.bills.keys() & {"waiting", "running"}:
        state, status_text = WAITING, "A file is being taken in."
    return GuideStep(
        "bill",
        "Upload a bill",
        state,
        status_text,
        (Step("A provider’s bill, as FOCUS or an AWS report, takes the place of estimates."),),
        Link("Bills", reverse("bills")),
    )
