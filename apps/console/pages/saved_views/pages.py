"""Saved views: the list of them, the menu's part of it, and keeping, renaming and removing one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.accounts.actions import (
    SavedViewEntry,
    change_saved_view,
    remove_saved_view,
    save_view,
)
from apps.accounts.queries.saved_views import SavedViewFact, saved_view, saved_views
from apps.console.kit.cells import DAY_OR_INSTANT, PROSE, Locale, linked
from apps.console.kit.change import Act, Change, ChangeForm, Done, changing
from apps.console.kit.entries import PickField, TextField
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.kit.sticky_filters import describe_sticky_filters, is_carried_to
from apps.console.kit.table import Table
from apps.console.pages.saved_views.page_words import page_name, parameter_words
from apps.show.amounts import counted
from apps.tables.column import Column

HERE = "saved-views"
LONGEST_NAME, LONGEST_ADDRESS = 100, 2_000
MOST_IN_MENU = 12
ALONE, EVERYBODY = "", "everybody"
NOT_KEPT = frozenset({"page", "sort"})
"""Parameters of an address that are not what it asks."""

VIEWS = Table[SavedViewFact](
    "views",
    "Saved views",
    (
        Column(
            "name", "View", lambda view: view.name, PROSE,
            href=lambda view: reverse("open-view", args=[view.id]),
        ),
        Column("owner", "Kept by", lambda view: view.owner_name, PROSE),
        Column("shared_with", "Shared with", lambda view: view.shared_with, PROSE),
        Column("address", "", lambda view: view.address),
        Column("created_at", "Since", lambda view: view.created_at, DAY_OR_INSTANT),
    ),
    noun=("view", "views"),
    sort="sort",
    default_sort="name",
)  # fmt: skip


class SavedViewForm(ChangeForm):
    """Form of a saved view: what it is called, and who else finds it."""

    asked_by = ("name",)
    name = TextField("Name", needed="Give it a name.", longest=LONGEST_NAME)
    shared_with = PickField(
        "Who finds it", hint="They see in it what they may see; only you change it."
    )


@shown(EVERYONE, HERE)
def views_page(context: Context) -> ConsolePage:
    """The viewer's own views, and those that others share with them."""
    views = saved_views(context.viewer)
    mine = sum(view.owner_id == context.viewer.person_id for view in views)
    return ConsolePage(
        context=context,
        finding=_counted_words(mine, len(views) - mine),
        under=("a view is a page with its filters; its period moves on with the days, unless it names some",),
        sections=(
            _with_changes(context).section(views, context, csv_name="saved views"),
        ),
        empty=None if views else _no_views(),
    )  # fmt: skip


@shown(EVERYONE, HERE, carries=False)
def views_menu(context: Context) -> HttpResponse:
    """The first of them, as a part of the menu."""
    views = saved_views(context.viewer)
    links = [Link(view.name, view.address) for view in views[:MOST_IN_MENU]]
    more = len(views) - len(links)
    return HttpResponse(render_to_string("saved_views/_menu.html", {"links": links, "more": more}))


@shown(EVERYONE, HERE, carries=False)
def open_view(context: Context, view_id: int) -> HttpResponse:
    """On to the page, with its filters; a link that stays the same when the view is renamed."""
    view = value_or_404(saved_view(view_id, context.viewer))
    return HttpResponseRedirect(view.address)


@changing(EVERYONE, HERE)
def new_view(context: Context) -> Act:
    """Keeps the page that the address names."""
    # It stands in the form's own address, also when that is sent.
    address = _page_address(context.query.get("address", ""))
    value_or_404(address or None, "There is no page of that address that can be kept.")

    def apply(entered: Mapping[str, Any]) -> Done:
        entry = _entry_of(entered)
        save_view(owner_id=_person_of(context), address=address, entry=entry, at=context.at)
        return f"{entry.name} is kept: it is in your menu, and the search finds it.", (address,)

    def page(form: ChangeForm) -> ConsolePage:
        return ConsolePage(
            context=context,
            finding="Save this view",
            under=(f"The page {_address_words(address, context)}.",),
            back=Link("Back to the page", address),
            sections=(
                form.section(
                    "view", f"{context.path}?{urlencode({'address': address})}", "Save this view", is_primary=True
                ),
            ),
        )  # fmt: skip

    form = SavedViewForm(
        context.sent, context, {"shared_with": _sharing(context)}, is_sent=bool(context.sent)
    )
    return Act(form=form, apply=apply, page=page)


@changing(EVERYONE, HERE)
def change_view(context: Context, view_id: int) -> Change[SavedViewEntry]:
    """Another name, or others who find it."""
    view = _get_view_or_404(context, view_id)

    def apply(entry: SavedViewEntry) -> Done:
        change_saved_view(view_id=view_id, owner_id=view.owner_id, entry=entry)
        return f"{entry.name} is changed.", (HERE,)

    def effects(entry: SavedViewEntry) -> tuple[str, ...]:
        picks = _sharing(context)
        found_by = picks[_pick_of(entry.team_id, is_for_everybody=entry.is_for_everybody)]
        return (f"It is called {entry.name}.", f"Who finds it: {found_by.lower()}.")

    picked = _pick_of(view.team_id, is_for_everybody=view.is_for_everybody)
    return Change(
        finding=f"Rename or share {view.name}",
        explanation=f"It opens the page {_address_words(view.address, context)}.",
        back=_all_views(),
        form=SavedViewForm,
        confirm="Change this view",
        read=_entry_of,
        effects=effects,
        apply=apply,
        picks={"shared_with": _sharing(context)},
        initial={"name": view.name, "shared_with": picked},
    )


@changing(EVERYONE, HERE)
def remove_view(context: Context, view_id: int) -> Change[SavedViewFact]:
    """It is in nobody's menu any more; the page itself stays."""
    view = _get_view_or_404(context, view_id)

    def apply(_: SavedViewFact) -> Done:
        remove_saved_view(view_id=view_id, owner_id=view.owner_id)
        return f"{view.name} is removed.", (HERE,)

    return Change(
        finding=f"Remove {view.name}",
        explanation=f"It opens the page {_address_words(view.address, context)}.",
        back=_all_views(),
        form=ChangeForm,
        confirm="Remove this view",
        read=lambda _: view,
        effects=lambda _: (
            f"Nobody finds it any more; it is shared with {view.shared_with}.",
            "The page itself stays, and no figure changes.",
        ),
        apply=apply,
    )


def _page_address(text: str) -> str:
    """An address of a page that takes filters, without what is not a question; empty where it is none."""
    where, _, query = text[:LONGEST_ADDRESS].partition("?")
    is_page = where.startswith("/") and not where.endswith(".csv") and is_carried_to(where)
    if not is_page or where == reverse(HERE):
        return ""
    params = QueryDict(query).copy()
    for name in NOT_KEPT & params.keys():
        params.pop(name)
    return where + (f"?{params.urlencode()}" if params else "")


def _address_words(address: str, context: Context) -> str:
    """`Cost explorer, with period Last month, team Research`."""
    where, _, query = address.partition("?")
    params = QueryDict(query)
    description = describe_sticky_filters(
        {name: ",".join(params.getlist(name)) for name in params}, context.calendar
    )
    name = page_name(where)
    return f"{name}, with {parameter_words(description)}" if description else name


def _sharing(context: Context) -> dict[str, str]:
    """The viewer's own teams, and everybody."""
    visible_teams = [team for team in accounts.teams() if context.viewer.sees_team(team.id)]
    teams = {str(team.id): f"Who sees team {team.name}" for team in visible_teams}
    return {ALONE: "Only me", **teams, EVERYBODY: "Everybody"}


def _pick_of(team_id: int | None, *, is_for_everybody: bool) -> str:
    if is_for_everybody:
        return EVERYBODY
    return ALONE if team_id is None else str(team_id)


def _entry_of(entered: Mapping[str, Any]) -> SavedViewEntry:
    shared = entered["shared_with"]
    is_team = shared not in (ALONE, EVERYBODY)
    return SavedViewEntry(
        name=entered["name"],
        team_id=int(shared) if is_team else None,
        is_for_everybody=shared == EVERYBODY,
    )


def _person_of(context: Context) -> int:
    """Only people have sessions, and so come here."""
    return value_or_404(context.viewer.person_id)


def _get_view_or_404(context: Context, view_id: int) -> SavedViewFact:
    view = saved_view(view_id, context.viewer)
    is_own = view is not None and view.owner_id == context.viewer.person_id
    return value_or_404(view if is_own else None, "There is no such view of yours.")


def _with_changes(context: Context) -> Table[SavedViewFact]:
    """The table, with what the viewer may do to their own."""

    def ways(view: SavedViewFact, _: Locale) -> str:
        if view.owner_id != context.viewer.person_id:
            return ""
        rename, remove = (
            linked(text, reverse(name, args=[view.id]))
            for text, name in (("Rename or share", "change-view"), ("Remove", "remove-view"))
        )
        return format_html("{} {}", rename, remove)

    page: Column[SavedViewFact] = Column(
        "page",
        "Page and filters",
        lambda view: _address_words(view.address, context),
        PROSE,
        csv="",
    )
    change: Column[SavedViewFact] = Column(
        "change", "Change", lambda _: "", csv="", sorts=False, shown=ways
    )
    first, *other_columns = VIEWS.columns
    return replace(VIEWS, columns=(first, page, *other_columns, change))


def _counted_words(mine: int, others: int) -> str:
    if not mine and not others:
        return "No view is saved yet"
    shared = f"{counted(others, 'view')} shared by others" if others else ""
    own_text = f"{counted(mine, 'view')} of your own" if mine else ""
    return " and ".join(filter(None, (own_text, shared)))


def _all_views() -> Link:
    return Link("Back to saved views", reverse(HERE))


def _no_views() -> EmptyState:
    return EmptyState(
        "No view is saved yet",
        "A page with filters is kept by name, for you, a team or everybody, and opened again from the menu or the search.",
        (
            Step(
                "Choose what a page shows, then “Save view” beside its filters.",
                link=Link("Open the cost explorer", reverse("costs")),
            ),
        ),
    )


urlpatterns = [
    path("views", views_page, name=HERE),
    path("views/menu", views_menu, name="views-menu"),
    path("views/new", new_view, name="new-view"),
    path("views/<int:view_id>", open_view, name="open-view"),
    path("views/<int:view_id>/change", change_view, name="change-view"),
    path("views/<int:view_id>/remove", remove_view, name="remove-view"),
]
