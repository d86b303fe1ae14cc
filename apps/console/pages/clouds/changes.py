"""Changes of cloud accounts: add one, change it, end it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import LONGEST_LIST, PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, Context, value_or_404
from apps.console.pages.clouds.words import how_often, needs
from apps.economics.refusal import Refusal
from apps.fleet.actions import clouds as actions
from apps.fleet.queries.clouds import (
    CloudAccountFact,
    NewCloudAccount,
    cloud_account,
    cloud_accounts,
    ended_cloud_account_names,
)
from apps.providers.cloud import KINDS
from apps.providers.registry import clouds, label_of, readings_of

SPLIT = re.compile(r"[\s,;]+")
OPTION_LABELS = {
    "role_arn": "Role to take on",
    "export_uri": "Where bills are delivered",
    "export_region": "Region of that bucket",
}
NO_KEYS = (
    "Keys are never kept here: the worker finds them as the cloud’s own tools do, in its "
    "environment, its profile, or the role of its machine."
)


@changing(MANAGES, "clouds")
def add(context: Context) -> Change[NewCloudAccount]:
    """Says what would be read, then adds the account."""
    labels = {key: cloud.label for key, cloud in clouds().items()}
    entered = (context.sent or context.query).get("provider", "")
    provider = entered if entered in labels else next(iter(labels))

    def read(entered: Mapping[str, Any]) -> NewCloudAccount:
        if entered["name"] in {account.name for account in cloud_accounts()}:
            raise Refusal("name", "there is an account of this name already; change that one")
        return _entered_account(entered, entered["name"], entered["provider"])

    def effects(account: NewCloudAccount) -> tuple[str, ...]:
        if account.name not in ended_cloud_account_names():
            return _effects_of(account)
        resume_note = "It was ended before: what was read goes on where it was."
        return (resume_note, *_effects_of(account))

    def apply(account: NewCloudAccount) -> Done:
        if account.name in ended_cloud_account_names():
            actions.change_cloud_account(account=account)
        else:
            actions.add_cloud_account(account=account, at=context.at)
        return f"{account.name} is added; the worker reads it next.", ("clouds",)

    return Change(
        finding="Add a cloud account",
        explanation=NO_KEYS,
        back=_back_link(),
        form=ChangeForm,
        confirm="Add it",
        read=read,
        effects=effects,
        apply=apply,
        more={
            "name": TextField("Name", "What it is called here, such as main."),
            "provider": PickField("Cloud", labels, initial=provider),
            **_account_fields(provider),
        },
    )


@changing(MANAGES, "clouds")
def change(context: Context, account_id: int) -> Change[NewCloudAccount]:
    """Says what would be read anew or no more, then changes the account."""
    current_account = account_or_404(account_id)

    def apply(account: NewCloudAccount) -> Done:
        actions.change_cloud_account(account=account)
        return f"{current_account.name} is changed.", ("clouds",)

    return Change(
        finding=f"Change {current_account.name}",
        explanation=NO_KEYS,
        back=_back_link(),
        form=ChangeForm,
        confirm="Change it",
        read=lambda entered: _entered_account(
            entered, current_account.name, current_account.provider
        ),
        effects=lambda account: (
            *_account_differences(current_account, account),
            *_effects_of(account),
        ),
        apply=apply,
        more=_account_fields(current_account.provider),
        initial={
            "account": current_account.account,
            "regions": " ".join(current_account.regions),
            "syncs": " ".join(current_account.syncs),
            **{name: getattr(current_account, name) for name in actions.OPTIONS},
        },
    )


@changing(MANAGES, "clouds")
def end(context: Context, account_id: int) -> Change[CloudAccountFact]:
    """Says what stays, then reads nothing more of the account."""
    current_account = account_or_404(account_id)

    def apply(_: CloudAccountFact) -> Done:
        actions.end_cloud_account(account_id=account_id, at=context.at)
        return f"Nothing more is read of {current_account.name}.", ("clouds",)

    return Change(
        finding=f"End {current_account.name}",
        explanation=f"{label_of(current_account.provider)} account {current_account.account} is read no more.",
        back=_back_link(),
        form=ChangeForm,
        confirm=f"End {current_account.name}",
        read=lambda _: current_account,
        effects=lambda _: (
            f"No more read: {_kind_words(current_account.syncs)}.",
            "What was read stays: prices, commitments, quotas, bills. No cost changes by it.",
            "Added again under this name, it goes on where it was.",
        ),
        apply=apply,
    )


def account_or_404(account_id: int) -> CloudAccountFact:
    """The account of this id."""
    return value_or_404(cloud_account(account_id))


def _entered_account(entered: Mapping[str, Any], name: str, provider: str) -> NewCloudAccount:
    """The account as entered; refuses by field what could not be read."""
    return actions.understood(
        NewCloudAccount(
            name=name,
            provider=provider,
            account=entered["account"],
            regions=_words_in(entered["regions"]),
            syncs=_words_in(entered["syncs"]),
            **{option: entered[option] for option in actions.OPTIONS},
        )
    )


def _account_fields(provider: str) -> dict[str, forms.Field]:
    """Return the form fields of a cloud account; the hints are of the clouds that there are."""
    providers = clouds().values()
    accounts = ", ".join(f"{cloud.account_example} ({cloud.label})" for cloud in providers)
    regions = ", ".join(f"{cloud.region_example} ({cloud.label})" for cloud in providers)
    return {
        "account": TextField("Account", f"Its number, or the project: {accounts}."),
        "regions": TextField("Regions", f"Such as {regions}.", longest=LONGEST_LIST),
        "syncs": TextField(
            "What to read",
            f"Empty: all of {', '.join(readings_of(provider))}.",
            longest=LONGEST_LIST,
        ),
        **{
            name: TextField(label, _option_hint(name), longest=LONGEST_LIST)
            for name, label in OPTION_LABELS.items()
        },
    }


def _option_hint(name: str) -> str:
    """Return which clouds have use for an option, and what they take."""
    examples = [
        f"{cloud.label}: {cloud.options[name].example}"
        for cloud in clouds().values()
        if name in cloud.options
    ]
    return f"{'; '.join(examples)}. May be empty."


def _effects_of(account: NewCloudAccount) -> tuple[str, ...]:
    readings = readings_of(account.provider)
    return (
        *(
            f"{KINDS[what].label}: {how_often(what)}, which needs {needs(account.provider, what)}."
            for what in account.syncs
            if what in readings
        ),
        NO_KEYS,
    )


def _account_differences(current: CloudAccountFact, account: NewCloudAccount) -> tuple[str, ...]:
    removed = [what for what in current.syncs if what not in account.syncs]
    added = [what for what in account.syncs if what not in current.syncs]
    differences = []
    if removed:
        differences.append(f"No more read: {_kind_words(removed)}. What was read stays.")
    if added:
        differences.append(f"Read from now on: {_kind_words(added)}.")
    if account.account != current.account:
        differences.append(
            f"Another account is read: {account.account}, and {current.account} no more."
        )
    if account.regions != current.regions:
        differences.append(
            f"Regions: {', '.join(account.regions)} instead of {', '.join(current.regions)}."
        )
    return tuple(differences) or ("Nothing else is read than now.",)


def _words_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in SPLIT.split(text) if word))


def _kind_words(whats: Sequence[str]) -> str:
    return ", ".join(KINDS[what].label.lower() for what in whats)


def _back_link() -> Link:
    return Link("Back to cloud accounts", reverse("clouds"))
