"""The page of cloud accounts, made of what is known of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import Context
from apps.console.pages.clouds.values import (
    AccountCard,
    CloudsPage,
    MachineRow,
    QuotaRow,
    ReadingRow,
    StrayNodeRow,
)
from apps.console.pages.clouds.words import (
    advice_of,
    counts_of,
    how_often,
    is_under_way,
    needs,
    state_of,
)
from apps.console.pages.listed import Asked, By, listed
from apps.fleet.queries.cloud_machines import Strays, strays
from apps.fleet.queries.clouds import CloudAccountFact, SyncHealth, cloud_accounts, sync_health
from apps.pricing.queries.quotas import QuotaFact, quotas
from apps.providers.cloud import KINDS
from apps.providers.registry import clouds, label_of
from apps.show.amounts import counted
from apps.show.words import joined

QUOTA_COLUMNS: Mapping[str, By[QuotaRow]] = {
    "name": By("Quota or reservation", lambda row: row.name),
    "account": By("Account", lambda row: (row.cloud, row.account)),
    "region": By("Region", lambda row: row.region),
    "value": By("Limit", lambda row: Decimal(row.value), is_number=True),
    "used": By("Used", lambda row: Decimal(row.used) if row.used else None, is_number=True),
    "share": By("Used of limit", lambda row: row.used_ratio, is_number=True),
    "unit": By("Unit", lambda row: row.unit),
    "read": By("Read", lambda row: row.read_at),
}
MACHINE_COLUMNS: Mapping[str, By[MachineRow]] = {
    "name": By("Instance", lambda row: row.name),
    "account": By("Account", lambda row: row.account),
    "zone": By("Zone", lambda row: row.zone),
    "type": By("Type", lambda row: row.instance_type),
    "bought": By("Bought as", lambda row: row.purchase_option),
    "since": By("Since", lambda row: row.launched_at),
}
NODE_COLUMNS: Mapping[str, By[StrayNodeRow]] = {
    "name": By("Node", lambda row: row.name),
    "pool": By("Pool", lambda row: row.pool),
    "cloud": By("Cloud", lambda row: row.cloud),
    "region": By("Region", lambda row: row.region),
    "since": By("Since", lambda row: row.began_at),
}


def clouds_page(given: QueryDict, context: Context) -> CloudsPage:
    """Accounts, limits, and who is missing on either side."""
    found = cloud_accounts()
    health = sync_health()
    missing = strays(context.at)
    names = {account.id: account.name for account in found}
    cards = tuple(_card(account, health, context.at) for account in found)
    here = reverse("clouds")
    may_manage = context.viewer.may_manage
    limits = quota_rows()
    return CloudsPage(
        frame=context.frame,
        finding=_finding(cards, missing),
        zone=context.zone,
        may_manage=may_manage,
        accounts=cards,
        quotas=listed(
            limits,
            QUOTA_COLUMNS,
            Asked(given, here, name="quotas", part="quotas", noun=("line", "lines")),
        ),
        machines=listed(
            machine_rows(missing, names),
            MACHINE_COLUMNS,
            Asked(given, here, name="machines", part="machines", noun=("machine", "machines")),
        ),
        nodes=listed(
            node_rows(missing),
            NODE_COLUMNS,
            Asked(given, here, name="nodes", part="nodes", noun=("node", "nodes")),
        ),
        matched=missing.matched,
        unread=", ".join(missing.unread),
        new=Link("Add an account", reverse("add-cloud-account")) if may_manage else None,
        empty=None if found else _empty(),
    )


def reading_row(health: SyncHealth, at: datetime) -> ReadingRow:
    """One thing that is read, as it is listed."""
    state, tone = state_of(health, at)
    return ReadingRow(
        account=health.account,
        what=KINDS[health.what].label,
        key=health.what,
        state=state,
        tone=tone,
        succeeded_at=health.succeeded_at,
        due_at=health.due_at,
        counts=counts_of(health.counts),
        error=health.error,
        advice=advice_of(health),
        note=health.note,
        every=how_often(health.what),
        needs=needs(health.provider, health.what),
    )


def quota_rows() -> list[QuotaRow]:
    """Every limit and all held capacity."""
    return [_quota(each) for each in quotas()]


def machine_rows(missing: Strays, names: Mapping[int, str]) -> list[MachineRow]:
    """Machines that are no node."""
    return [
        MachineRow(
            name=each.name,
            external_id=each.external_id,
            account=names.get(each.account_id, ""),
            zone=each.zone or each.region,
            instance_type=each.instance_type,
            purchase_option=each.purchase_option.replace("_", " "),
            launched_at=each.launched_at,
        )
        for each in missing.machines
    ]


def node_rows(missing: Strays) -> list[StrayNodeRow]:
    """Nodes that no account runs."""
    return [
        StrayNodeRow(
            name=each.name,
            href=reverse("node", args=[each.id]),
            pool=each.pool,
            cloud=label_of(each.provider),
            region=each.region,
            provider_id=each.provider_id,
            began_at=each.began_at,
        )
        for each in missing.nodes
    ]


def _empty() -> EmptyState:
    known = list(clouds().values())
    first = known[0]
    return EmptyState(
        title="No cloud is read yet",
        sentence="Prices, commitments, quotas, running machines and bills come from "
        f"{joined([cloud.label for cloud in known])} by themselves once an account is named here. "
        "No key is kept: the worker finds them as the cloud’s own tools do, in its environment, "
        "its profile, or the role of its machine.",
        steps=(
            Step("Let the worker’s role read what docs/clouds.md lists, and no more."),
            Step(
                "Name the account here, or by the command:",
                command=f".venv/bin/python manage.py add_cloud_account main --provider {first.key} "
                f"--account {first.account_example} --region {first.region_example}",
            ),
        ),
    )


def _card(account: CloudAccountFact, health: Sequence[SyncHealth], at: datetime) -> AccountCard:
    mine = [each for each in health if each.account_id == account.id]
    return AccountCard(
        id=account.id,
        name=account.name,
        provider=label_of(account.provider),
        account=account.account,
        regions=", ".join(account.regions),
        role_arn=account.role_arn,
        export_uri=account.export_uri,
        is_busy=any(is_under_way(each, at) for each in mine),
        troubles=sum(each.state == "failed" for each in mine),
        readings=tuple(reading_row(each, at) for each in mine),
    )


def _quota(fact: QuotaFact) -> QuotaRow:
    ratio = None if fact.used is None or not fact.value else float(fact.used / fact.value)
    return QuotaRow(
        name=fact.name,
        cloud=label_of(fact.provider),
        account=fact.account,
        region=fact.region,
        code=fact.code,
        value=_plain(fact.value),
        used="" if fact.used is None else _plain(fact.used),
        used_ratio=ratio,
        unit=fact.unit,
        read_at=fact.read_at,
        # A reservation is meant to be full; a limit stops whoever wants more.
        is_full=not fact.is_held and ratio is not None and ratio >= 1,
    )


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _finding(cards: Sequence[AccountCard], missing: Strays) -> str:
    if not cards:
        return "No cloud is read yet."
    broken = sum(card.troubles for card in cards)
    said = f"{counted(len(cards), 'cloud account')} read"
    if broken:
        said = f"{counted(broken, 'reading')} of {counted(len(cards), 'cloud account')} broken off"
    if missing.machines:
        said += f"; {counted(len(missing.machines), 'running instance')} without a node"
    if missing.nodes:
        said += f"; {counted(len(missing.nodes), 'node')} not found in the cloud"
    return f"{said}."
