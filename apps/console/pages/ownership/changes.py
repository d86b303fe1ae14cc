"""Rules added and ended, workloads added: each a POST of the platform's, refused by field."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import organisation, teams
from apps.console.kit.request import MANAGES, shown_to
from apps.console.pages.ownership.names import names
from apps.console.pages.ownership.rule_form import read_form
from apps.console.pages.ownership.rule_pages import end_day, ended_at, rule_page, visible_rule
from apps.console.pages.setup.questions import recount
from apps.economics.refusal import Refusal
from apps.workloads.actions import rules, workloads

LONGEST_NAME = 200


@require_POST
@shown_to(MANAGES)
def add_rule(request: HttpRequest) -> HttpResponse:
    """Keep the rule that was looked at; what cannot be kept comes back with the reason."""
    at = timezone.now()
    called = names(viewer_of_request(request))
    form = read_form(request.POST, called, organisation())
    refusal = ""
    if form.rule is not None:
        try:
            rule_id = rules.add_rule(rule=form.rule, at=at)
        except Refusal as refused:
            refusal = f"The rule was not saved: {refused.message}."
        else:
            owner = called.owner(form.rule.rule.team_id, form.rule.rule.workload_id)
            messages.success(
                request, f"Saved. What moves to {owner} is settled again in the next minutes."
            )
            recount()
            return redirect("rule", rule_id)
    page = rule_page(request, form, called, at, refusal or "The rule was not saved.")
    return render(request, "ownership/new_rule.html", {"page": page}, status=400)


@require_POST
@shown_to(MANAGES)
def end_rule(request: HttpRequest, rule_id: int) -> HttpResponse:
    """The rule counts no more from the day that was looked at on."""
    at = timezone.now()
    fact = visible_rule(rule_id, viewer_of_request(request))
    day, problem = end_day(request.POST.get("end", ""))
    if not problem:
        try:
            moment = ended_at(day, organisation(), at)
            rules.end_rule(rule_id=fact.rule.id, ended_at=moment, at=at)
        except Refusal as refused:
            problem = refused.message
    if problem:
        messages.warning(request, f"Nothing was changed: {problem}.")
    else:
        messages.success(request, "The rule is ended. What it gave away is settled again.")
        recount()
    return redirect("rule", rule_id)


@require_POST
@shown_to(MANAGES)
def add_workload(request: HttpRequest) -> HttpResponse:
    """A workload of a team, to which rules can then give jobs."""
    name = request.POST.get("name", "").strip()[:LONGEST_NAME]
    own = {str(team.id): team for team in teams()}
    team = own.get(request.POST.get("team", ""))
    if team is None or not name or "\0" in name:
        messages.warning(request, "Nothing was added: a workload needs a name and a team.")
        return redirect("ownership")
    try:
        workloads.add_workload(name=name, team_id=team.id, kind=request.POST.get("kind", "other"))
    except Refusal as refused:
        messages.warning(request, f"Nothing was added: {refused.message}.")
    else:
        messages.success(request, f"{name} is a workload of {team.name}. A rule gives it its jobs.")
    return redirect("ownership")
