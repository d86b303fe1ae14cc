"""How the answers of *Plan* are computed: what each is from, after whom, and where it is weak."""

from django.urls import path

from apps.console.kit.methods import ANSWERS
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.request import EVERYONE, Context


@shown(EVERYONE, "planning-methods", carries=False)
def planning_methods(context: Context) -> ConsolePage:
    """Every answer of Plan, one under the other."""
    return ConsolePage(
        context=context,
        finding=f"How {len(ANSWERS)} answers about what comes are computed, and where each is weak",
        under=("all of them are estimates: none is posted to the ledger",),
        sections=tuple(FactList(method.facts, method.title, method.name) for method in ANSWERS),
    )


urlpatterns = [path("plan/methods", planning_methods, name="planning-methods")]
