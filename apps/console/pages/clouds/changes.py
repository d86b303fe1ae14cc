"""What people do with cloud accounts: add one, change it, end it, have it read now."""

import re

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from apps.console.kit.entries import one_of
from apps.console.kit.form import Field
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.pages.changes import ChangePage, Entries
from apps.console.pages.clouds.words import how_often, needs
from apps.fleet.actions import clouds as actions
from apps.fleet.queries.clouds import (
    CloudAccountFact,
    cloud_account,
    cloud_accounts,
    ended_cloud_account_names,
)
from apps.providers.cloud import KINDS
from apps.providers.registry import clouds, label_of, readings_of
from apps.show.amounts import counted

SPLIT = re.compile(r"[\s,;]+")
FIELDS = ("account", "regions", "syncs", *actions.OPTIONS)
OPTION_LABELS = {
    "role_arn": "Role to take on",
    "export_uri": "Where bills are delivered",
    "export_region": "Region of that bucket",
}
NO_KEYS = (
    "Keys are never kept here: the worker finds them as the cloud’s own tools do, in its "
    "environment, its profile, or the role of its machine."
)
changing = require_http_methods(["GET", "HEAD", "POST"])


@changing
@shown_to(MANAGES)
def add(request: HttpRequest) -> HttpResponse:
    """Says what would be read, then adds the account."""
    who = request_context(request, "clouds")
    given = _given(request)
    choices = {key: cloud.label for key, cloud in clouds().items()}
    first = next(iter(choices))
    entries = Entries(given, {"name": "", "provider": first, **dict.fromkeys(FIELDS, "")})
    entries.read("name", _name)
    provider = entries.read("provider", one_of(choices)) or first
    account = _entered(entries, entries.texts["name"], provider)
    is_anew = account.name in ended_cloud_account_names()
    if _may_do(request, entries):
        try:
            if is_anew:
                actions.change_cloud_account(account=account)
            else:
                actions.add_cloud_account(account=account, at=who.at)
        except actions.CloudAccountNameTaken as refusal:
            entries.refused("name", str(refusal))
        else:
            return _done(request, f"{account.name} is added; the worker reads it next.")
    effects = _effects(account)
    if is_anew:
        effects = ("It was ended before: what was read goes on where it was.", *effects)
    fields = (
        entries.field("name", "Name", hint="What it is called here, such as main."),
        entries.choice("provider", "Cloud", choices),
        *_fields(entries, provider),
    )
    return _shown(request, who, ("Add a cloud account", "Add it"), fields, (entries, effects))


@changing
@shown_to(MANAGES)
def change(request: HttpRequest, account_id: int) -> HttpResponse:
    """Says what would be read anew or no more, then changes the account."""
    who, held = request_context(request, "clouds"), _account(account_id)
    entries = Entries(_given(request), _as_entered(held))
    account = _entered(entries, held.name, held.provider)
    if _may_do(request, entries):
        actions.change_cloud_account(account=account)
        return _done(request, f"{held.name} is changed.")
    return _shown(
        request,
        who,
        (f"Change {held.name}", "Change it"),
        _fields(entries, held.provider),
        (entries, (*_differences(held, account), *_effects(account))),
    )


@changing
@shown_to(MANAGES)
def end(request: HttpRequest, account_id: int) -> HttpResponse:
    """Says what stays, then reads nothing more of the account."""
    who, held = request_context(request, "clouds"), _account(account_id)
    if request.method == "POST":
        actions.end_cloud_account(account_id=account_id, at=who.at)
        return _done(request, f"Nothing more is read of {held.name}.")
    page = ChangePage(
        frame=who.frame,
        finding=f"End {held.name}",
        explanation=f"{label_of(held.provider)} account {held.account} is read no more.",
        back=_back(),
        here=request.path,
        fields=(),
        effects=(
            f"No more read: {_words_of(held.syncs)}.",
            "What was read stays: prices, commitments, quotas, bills. No cost changes by it.",
            "Added again under this name, it goes on where it was.",
        ),
        confirm=f"End {held.name}",
    )
    return render(request, "components/change_page.html", {"page": page})


@require_POST
@shown_to(SEES_EVERYTHING)
def read_now(request: HttpRequest, account_id: int) -> HttpResponse:
    """Leave it to the next sweep of the worker, which is a matter of seconds."""
    held = _account(account_id)
    count = actions.want_syncs(account_id=account_id, at=timezone.now())
    messages.success(
        request, f"{held.name}: {counted(count, 'reading')} about to begin; this page says how far."
    )
    return redirect(reverse("clouds") + f"#account-{account_id}")


def _entered(entries: Entries, name: str, provider: str) -> actions.NewCloudAccount:
    """The account as entered; what cannot be is said of its field."""
    texts = entries.texts
    account = actions.NewCloudAccount(
        name=name,
        provider=provider,
        account=texts["account"],
        regions=_several(texts["regions"]),
        syncs=_several(texts["syncs"]),
        role_arn=texts["role_arn"],
        export_uri=texts["export_uri"],
        export_region=texts["export_region"],
    )
    try:
        return actions.understood(account)
    except actions.CloudAccountNotUnderstood as refusal:
        entries.refused(refusal.field, refusal.sentence)
        return account


def _fields(entries: Entries, provider: str) -> tuple[Field, ...]:
    known = clouds().values()
    accounts = ", ".join(f"{cloud.account_example} ({cloud.label})" for cloud in known)
    regions = ", ".join(f"{cloud.region_example} ({cloud.label})" for cloud in known)
    readings = ", ".join(readings_of(provider))
    return (
        entries.field("account", "Account", hint=f"Its number, or the project: {accounts}."),
        entries.field("regions", "Regions", hint=f"Such as {regions}."),
        entries.field("syncs", "What to read", hint=f"Empty: all of {readings}."),
        *(
            entries.field(name, label, hint=_option_hint(name))
            for name, label in OPTION_LABELS.items()
        ),
    )


def _option_hint(name: str) -> str:
    """Which clouds have use for it, and what they take."""
    told = [
        f"{cloud.label}: {cloud.options[name].example}"
        for cloud in clouds().values()
        if name in cloud.options
    ]
    return f"{'; '.join(told)}. May be empty."


def _effects(account: actions.NewCloudAccount) -> tuple[str, ...]:
    known = readings_of(account.provider)
    read = [what for what in account.syncs if what in known]
    return (
        *(
            f"{KINDS[what].label}: {how_often(what)}, which needs {needs(account.provider, what)}."
            for what in read
        ),
        NO_KEYS,
    )


def _differences(held: CloudAccountFact, account: actions.NewCloudAccount) -> tuple[str, ...]:
    gone = [what for what in held.syncs if what not in account.syncs]
    come = [what for what in account.syncs if what not in held.syncs]
    said = []
    if gone:
        said.append(f"No more read: {_words_of(gone)}. What was read stays.")
    if come:
        said.append(f"Read from now on: {_words_of(come)}.")
    if account.account != held.account:
        said.append(f"Another account is read: {account.account}, and {held.account} no more.")
    if account.regions != held.regions:
        said.append(f"Regions: {', '.join(account.regions)} instead of {', '.join(held.regions)}.")
    return tuple(said) or ("Nothing else is read than now.",)


def _shown(
    request: HttpRequest,
    who: Context,
    titles: tuple[str, str],
    fields: tuple[Field, ...],
    said: tuple[Entries, tuple[str, ...]],
) -> HttpResponse:
    entries, effects = said
    page = ChangePage(
        frame=who.frame,
        finding=titles[0],
        explanation=NO_KEYS,
        back=_back(),
        here=request.path,
        fields=fields,
        effects=effects,
        confirm=entries.confirm(titles[1]),
    )
    return render(request, "components/change_page.html", {"page": page})


def _as_entered(held: CloudAccountFact) -> dict[str, str]:
    lists = {"regions": " ".join(held.regions), "syncs": " ".join(held.syncs)}
    return {name: lists.get(name) or str(getattr(held, name)) for name in FIELDS} | lists


def _several(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in SPLIT.split(text) if word))


def _words_of(whats: "list[str] | tuple[str, ...]") -> str:
    return ", ".join(KINDS[what].label.lower() for what in whats)


def _name(text: str) -> str:
    if text in {account.name for account in cloud_accounts()}:
        raise ValueError("There is an account of this name already; change that one.")
    return text


def _may_do(request: HttpRequest, entries: Entries) -> bool:
    return request.method == "POST" and not entries.problems


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _account(account_id: int) -> CloudAccountFact:
    held = cloud_account(account_id)
    if held is None:
        raise Http404
    return held


def _back() -> Link:
    return Link("Back to cloud accounts", reverse("clouds"))


def _done(request: HttpRequest, said: str) -> HttpResponse:
    messages.success(request, said)
    return redirect("clouds")
