"""Join tokens: what lets the nodes of a cluster in; made and revoked here, shown once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.http import QueryDict
from django.urls import path, reverse

from apps.console.kit.cells import DAY_OR_INSTANT, Locale
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import (
    LONGEST_LIST,
    NonNegativeIntegerField,
    ParsedField,
    PickField,
    TextField,
)
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, SecretOnce, Section, shown
from apps.console.kit.request import MANAGES, SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.people.pages import tabs_of, token_state
from apps.console.pages.setup.commands import (
    CHECK,
    JOIN_TOKEN,
    RUN,
    join_config_command,
    token_command,
)
from apps.console.pages.setup.new_nodes import NAMED_MOST, node_price_words
from apps.economics.refusal import Refusal
from apps.fleet import actions
from apps.fleet.queries import clusters, pools, pools_by_name
from apps.fleet.queries.join_tokens import JoinTokenFact, join_tokens
from apps.fleet.tables.join_tokens import JOIN_TOKENS
from apps.show.amounts import counted
from apps.show.time import day, instant
from apps.show.words import joined
from apps.tables.column import Column
from apps.web.queries.wheels import install_command

MOST_DAYS = 3650
ONLY_ON_RECORD = "only nodes that are on record"
TELLS = {"yes": "measure, and say which jobs hold their GPUs", "no": "measure only"}
CLUSTER_FIRST = EmptyState(
    "A join token is of a cluster",
    "None is on record. A pool can be added together with its cluster:",
    (Step("Nodes of one model and one price are a pool.", link=Link("Add a pool", "")),),
)


def _patterns_of(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace(" ", ",").split(",") if part.strip())


class JoinTokenForm(ChangeForm):
    """Form of a join token: which nodes may join, until when, and what they may then do."""

    name = TextField("What carries it", "Such as an image, or a DaemonSet.")
    cluster = PickField("Nodes of the cluster")
    node_names = ParsedField(
        "Names of its nodes",
        _patterns_of,
        "Names or patterns, with commas between: gpu-*, login-1.",
        longest=LONGEST_LIST,
    )
    pool = PickField("A node that is not on record goes into", hint="From then on it costs money.")
    most_nodes = NonNegativeIntegerField(
        "For how many nodes",
        "Those beyond wait for a person, and cost nothing.",
        example="20",
        initial=str(actions.USUAL_NODES),
        is_needed=True,
    )
    tells = PickField("Nodes may", TELLS, initial="yes")
    days = NonNegativeIntegerField("Valid for days", example="90", initial="90", is_needed=True)


def join_tokens_table(context: Context) -> Table[JoinTokenFact]:
    """Every join token as it stands now; whoever may revoke them can."""

    def state(row: JoinTokenFact, _: Locale) -> str:
        return token_state(
            row.name,
            context,
            is_revoked=row.revoked_at is not None,
            is_good=row.is_good(context.at),
            revoke=reverse("revoke-join-token", args=[row.id]),
        )

    state_column: Column[JoinTokenFact] = Column(
        "state",
        "State",
        lambda row: (row.revoked_at is not None, not row.is_good(context.at)),
        csv="",
        shown=state,
    )
    days = {"format": DAY_OR_INSTANT}
    return Table.of(JOIN_TOKENS, state_column, dress={"created_at": days, "expires_at": days})


@shown(SEES_EVERYTHING, "people")
def join_tokens_listed(context: Context) -> ConsolePage:
    """Every join token, the newest first."""
    return _join_tokens_page(context)


@changing(MANAGES, "people")
def make_join_token(context: Context) -> Change[actions.NewJoinToken]:
    """Says whom it lets in and what they cost, then makes it; the page that follows has its secret."""

    def read(entered: Mapping[str, Any]) -> actions.NewJoinToken:
        cluster = clusters()[int(entered["cluster"])]
        if not 1 <= entered["days"] <= MOST_DAYS:
            raise Refusal("days", f"a join token is valid for 1 to {MOST_DAYS:,} days")
        new = actions.NewJoinToken(
            name=entered["name"] or f"nodes of {cluster.name}",
            cluster_id=cluster.id,
            node_names=entered["node_names"],
            expires_at=context.at + timedelta(days=entered["days"]),
            pool_id=int(entered["pool"]) if entered["pool"] else None,
            reports_jobs=entered["tells"] == "yes",
            most_nodes=entered["most_nodes"],
        )
        actions.check_join_token(new, context.at)
        return new

    def apply(new: actions.NewJoinToken) -> ConsolePage:
        issued = actions.make_join_token(
            token=new, at=context.at, made_by_id=context.viewer.person_id
        )
        cluster = clusters()[new.cluster_id].name
        return _join_tokens_page(
            context, shown_token=_shown_once(new.name, cluster, issued, context)
        )

    return Change(
        finding="Create a join token",
        explanation="Each node that comes with it gets a token of its own, for itself alone.",
        back=Link("Join tokens", reverse("join-tokens")),
        form=JoinTokenForm,
        confirm="Create join token",
        read=read,
        effects=lambda new: _effects_of_join_token(new, context),
        apply=apply,
        picks=_join_picks(),
        empty=None if clusters() else _cluster_first(),
    )


@changing(MANAGES, "people")
def revoke_join_token(context: Context, join_token_id: int) -> Change[None]:
    """Says who goes on, then lets no further node join with it."""
    row = value_or_404(next((row for row in join_tokens() if row.id == join_token_id), None))

    def read(_: Mapping[str, Any]) -> None:
        if row.revoked_at is not None:
            at = instant(row.revoked_at, context.zone)
            raise actions.JoinTokenOver(f"the join token {row.name} was revoked {at}")

    def apply(_: None) -> Done:
        actions.revoke_join_token(join_token_id=join_token_id, at=context.at)
        return "The join token is revoked. Nodes that came with it go on.", ("join-tokens",)

    return Change(
        finding=f"Revoke the join token {row.name}",
        explanation="For an image that is gone, or a secret that others may know.",
        back=Link("Join tokens", reverse("join-tokens")),
        form=ChangeForm,
        confirm="Revoke it",
        read=read,
        effects=lambda _: (
            f"No further node of {row.cluster} joins with it; it cannot be made valid again.",
            f"{counted(row.joined_agents, 'agent')} came with it: what came goes on with a token "
            "of its own, and no cost changes.",
        ),
        apply=apply,
        refusals=(actions.JoinTokenOver,),
    )


def _join_tokens_page(context: Context, shown_token: SecretOnce | None = None) -> ConsolePage:
    """The list, with the token that was just made."""
    context = replace(context, path=reverse("join-tokens"))
    all_tokens, may_change = join_tokens(), context.viewer.may_manage
    good = sum(1 for row in all_tokens if row.is_good(context.at))
    finding = "No join token is valid: nodes need an invitation each."
    if good:
        finding = f"{counted(good, 'join token')} {'is' if good == 1 else 'are'} valid."
    return ConsolePage(
        context=context,
        finding=finding,
        under=("Only hashes of them are kept. Every one that is made or revoked is in the trail.",),
        tabs=tabs_of("join-tokens"),
        sections=(
            shown_token,
            join_tokens_table(context).section(
                all_tokens,
                context,
                csv_name="join tokens",
            ),
            _join_token_section(context) if may_change else None,
        ),
    )


def _join_token_section(context: Context) -> Section:
    if not clusters():
        return _cluster_first()
    return JoinTokenForm(QueryDict(), context, _join_picks()).section(
        "join-token",
        reverse("make-join-token"),
        "See what it lets in",
        title="Create a join token",
        about="for the nodes of a cluster, by their names",
        is_primary=True,
        method="get",
    )


def _cluster_first() -> EmptyState:
    first = replace(CLUSTER_FIRST.steps[0], link=Link("Add a pool", reverse("add-pool")))
    return replace(CLUSTER_FIRST, steps=(first,))


def _effects_of_join_token(new: actions.NewJoinToken, context: Context) -> Sequence[str]:
    """Whom it lets in, what they may tell, and what a node costs that comes for the first time."""
    cluster, may = clusters()[new.cluster_id].name, TELLS["yes" if new.reports_jobs else "no"]
    until, names = day(new.expires_at.astimezone(context.zone).date()), [*new.node_names]
    if len(names) > NAMED_MOST:
        names[NAMED_MOST:] = [f"{len(names) - NAMED_MOST} more"]
    sentences = (
        f"Nodes of {cluster} named {joined(names)} come in with it, until {until}.",
        f"They {may}.",
    )
    if new.pool_id is None:
        return (*sentences, "A node that is not on record is refused, so that no cost changes.")
    pool = pools()[new.pool_id]
    return (
        *sentences,
        f"A node that is not on record is put into {pool.name} as it comes, and costs from then on.",
        f"At most {counted(new.most_nodes, 'node')} of them are in service at a time: those beyond"
        " wait on the page of agents until somebody approves them, and cost nothing meanwhile.",
        node_price_words(pool, 1, context),
    )


def _join_picks() -> dict[str, dict[str, str]]:
    """Clusters, and pools that say how many GPUs a node of theirs has."""
    fitting = {str(pool.id): pool.name for pool in pools_by_name() if pool.gpus_per_node}
    return {
        "cluster": {str(cluster.id): cluster.name for cluster in clusters().values()},
        "pool": {"": f"none: {ONLY_ON_RECORD} may join"} | fitting,
    }


def _shown_once(
    name: str, cluster: str, issued: actions.IssuedJoinToken, context: Context
) -> SecretOnce:
    """The secret, and what an administrator of nodes does with it."""
    return SecretOnce(
        f"The join token for {name}",
        "it is shown only now; only its hash is kept",
        issued.secret,
        (
            Step(
                "In the image or on each node, install the agent from this server:",
                install_command(context.site, "runrate-agent"),
            ),
            Step("Say where this server is:", join_config_command(context.site, cluster)),
            Step("Keep the token where the agent looks:", token_command(issued.secret, JOIN_TOKEN)),
            Step("See what works on this node and what does not:", CHECK),
            Step("Measure and send; each node lets itself in at its first start:", RUN),
            Step(
                "On Kubernetes instead, the secret that agents/agent/kubernetes/daemonset.yaml "
                "names:",
                "kubectl -n runrate create secret generic runrate-join "
                f"--from-literal=token={issued.secret}",
            ),
        ),
    )


urlpatterns = [
    path("people/join-tokens", join_tokens_listed, name="join-tokens"),
    path("people/join-tokens/make", make_join_token, name="make-join-token"),
    path(
        "people/join-tokens/<int:join_token_id>/revoke",
        revoke_join_token,
        name="revoke-join-token",
    ),
]
