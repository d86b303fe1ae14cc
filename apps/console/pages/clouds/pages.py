"""Cloud accounts: how reading them goes, limits, and who is missing on either side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Include, Section, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import TableSection
from apps.console.pages.clouds import changes
from apps.console.pages.clouds.tables import (
    MACHINES,
    NODES,
    QUOTAS,
    READINGS,
    ReadKind,
    StrayMachine,
)
from apps.console.pages.clouds.words import advice_of, is_under_way, needs
from apps.console.pages.managers import step_for
from apps.fleet.actions import clouds as actions
from apps.fleet.queries.cloud_machines import InventoryMismatch, strays
from apps.fleet.queries.clouds import CloudAccountFact, SyncHealth, cloud_accounts, sync_health
from apps.pricing.queries.quotas import quotas
from apps.providers.cloud import KINDS
from apps.providers.registry import clouds as known_clouds
from apps.providers.registry import label_of
from apps.show.amounts import counted
from apps.show.words import joined


@shown(SEES_EVERYTHING, "clouds")
def clouds(context: Context) -> ConsolePage:
    """Every account with what is read of it, limits, and who is missing on either side."""
    return _clouds_page(context)


@acting(SEES_EVERYTHING, "clouds")
def read_now(context: Context, account_id: int) -> Act:
    """Leave it to the next sweep of the worker, which is a matter of seconds."""
    cloud_account = changes.account_or_404(account_id)

    def apply(_: Mapping[str, Any]) -> Done:
        count = counted(actions.want_syncs(account_id=account_id, at=context.at), "reading")
        message = f"{cloud_account.name}: {count} about to begin; this page says how far."
        return message, (reverse("clouds") + f"#account-{account_id}",)

    return Act(
        form=ChangeForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda _: _clouds_page(replace(context, path=reverse("clouds"))),
    )


def _clouds_page(context: Context) -> ConsolePage:
    accounts, health, missing = cloud_accounts(), sync_health(), strays(context.at)
    limits = quotas()
    readings_file = READINGS.file(
        "cloud accounts", context, lambda: [ReadKind(sync, context.at) for sync in health]
    )
    return ConsolePage(
        context=context,
        finding=_clouds_finding(accounts, health, missing),
        under=("Read by the worker, with the keys it finds where it runs; none is kept here.",),
        actions=(_new_account(),) if context.viewer.may_manage else (),
        refresh_seconds=3 if any(is_under_way(sync, context.at) for sync in health) else 0,
        sections=(
            None if accounts else _no_account(context),
            *_account_sections(accounts, health, readings_file, context),
            QUOTAS.section(
                limits,
                context,
                empty=format_html(
                    "None is read yet: name <code>{}</code> and <code>{}</code> in what is read of "
                    "an account.",
                    "quotas",
                    "reservations",
                ),
                csv_name="quotas",
                is_shown=bool(accounts or limits),
            ),
            *_stray_sections(missing, accounts, context),
        ),
        csv_files=(readings_file,),
        main_table=READINGS.name,
    )


def _account_sections(
    accounts: Sequence[CloudAccountFact],
    health: Sequence[SyncHealth],
    readings_file: CsvFile,
    context: Context,
) -> Iterator[Section]:
    """Each account with everything that is read of it, and what to do where that broke off."""
    for account in accounts:
        mine = [sync for sync in health if sync.account_id == account.id]
        table = READINGS.section(
            [ReadKind(sync, context.at) for sync in mine],
            context,
            title=f"What is read of {account.name}",
        )
        content = {
            "account": account,
            "words": _account_words(account),
            "table": table,
            "readings": [_reading_words(sync) for sync in mine],
            "is_busy": any(is_under_way(sync, context.at) for sync in mine),
            "may_manage": context.viewer.may_manage,
            "csv": readings_file if account is accounts[0] else None,
        }
        yield Include("clouds/_account.html", content)


def _account_words(account: CloudAccountFact) -> str:
    """Return whose account it is, where it is read, as whom, and where its bills lie."""
    return (
        f"{label_of(account.provider)} {account.account}"
        + (f" in {', '.join(account.regions)}" if account.regions else "")
        + (f", as {account.role_arn}" if account.role_arn else "")
        + (f", bills from {account.export_uri}" if account.export_uri else "")
    )


def _reading_words(health: SyncHealth) -> Mapping[str, str]:
    return {
        "what": KINDS[health.what].label,
        "error": health.error,
        "advice": advice_of(health),
        "note": health.note,
        "needs": needs(health.provider, health.what),
    }


def _stray_sections(
    missing: InventoryMismatch, accounts: Sequence[CloudAccountFact], context: Context
) -> Iterator[TableSection]:
    """Machines that are no node, and nodes that no account runs."""
    unread = ", ".join(missing.unread)
    not_known = (
        f"Not known of {unread}: its running machines were not read in the last two hours. "
        if unread
        else ""
    )
    by_hand = format_html(
        'An agent on such an instance makes it a node, and so does <a href="{}">adding it by '
        "hand</a>.",
        context.onward(reverse("first-day")),
    )
    yield MACHINES.section(
        _stray_machines(missing, accounts),
        context,
        about="running and billed, and charged to no team: {said}; "
        f"{missing.matched:,} found on both sides",
        empty="" if unread else "None: every instance that is read is a node.",
        csv_name="machines without node",
        is_shown=bool(accounts),
        remark=format_html("{}{}", not_known, by_hand if missing.machines else ""),
    )
    yield NODES.section(
        missing.nodes,
        context,
        empty="Not judged where machines were not read."
        if unread
        else "None: every node of a cloud that is read was found there.",
        csv_name="nodes without machine",
        is_shown=bool(accounts),
        remark="If it is gone, end it on its page; if it has another name there, say its id with "
        "the node."
        if missing.nodes
        else "",
    )


def _stray_machines(
    missing: InventoryMismatch, accounts: Sequence[CloudAccountFact]
) -> list[StrayMachine]:
    names = {account.id: account.name for account in accounts}
    return [
        StrayMachine(machine, names.get(machine.account_id, "")) for machine in missing.machines
    ]


def _new_account() -> Link:
    return Link("Add an account", reverse("add-cloud-account"))


def _no_account(context: Context) -> EmptyState:
    providers = list(known_clouds().values())
    return EmptyState(
        title="No cloud is read yet",
        sentence="Prices, commitments, quotas, running machines and bills come from "
        f"{joined([cloud.label for cloud in providers])} by themselves once an account is named here. "
        "No key is kept: the worker finds them as the cloud’s own tools do, in its environment, "
        "its profile, or the role of its machine.",
        steps=(
            Step("Let the worker’s role read what docs/guides/clouds.md lists, and no more."),
            step_for(
                "Name the account.", _new_account(), "names it", may=context.viewer.may_manage
            ),
        ),
    )


def _clouds_finding(
    accounts: Sequence[CloudAccountFact], health: Sequence[SyncHealth], missing: InventoryMismatch
) -> str:
    if not accounts:
        return "No cloud is read yet."
    broken = sum(sync.state == "failed" for sync in health)
    sentence = f"{counted(len(accounts), 'cloud account')} read"
    if broken:
        sentence = (
            f"{counted(broken, 'reading')} of {counted(len(accounts), 'cloud account')} broken off"
        )
    if missing.machines:
        sentence += f"; {counted(len(missing.machines), 'running instance')} without a node"
    if missing.nodes:
        sentence += f"; {counted(len(missing.nodes), 'node')} not found in the cloud"
    return f"{sentence}."


urlpatterns = [
    path("clouds", clouds, name="clouds"),
    path("clouds/add", changes.add, name="add-cloud-account"),
    path("clouds/<int:account_id>/change", changes.change, name="change-cloud-account"),
    path("clouds/<int:account_id>/end", changes.end, name="end-cloud-account"),
    path("clouds/<int:account_id>/read", read_now, name="read-cloud-account"),
]
