"""The pages behind the link of an invitation, and of the first person: choose a password, once."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from apps.accounts.actions import (
    LinkUnknown,
    PasswordTooWeak,
    accept_invitation,
    add_first_person,
)
from apps.accounts.queries import first_person_secret, invited_person
from apps.economics.refusal import Refusal

NOT_THE_SAME = "The two are not the same."


@never_cache
@sensitive_variables("secret", "password")
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def accept(request: HttpRequest, secret: str) -> HttpResponse:
    """The form, and what it sends; then the person signs in with what they chose."""
    at = timezone.now()
    invited = invited_person(secret, at)
    if invited is None:
        return render(request, "sign-in/link_unknown.html", status=410)
    given = {"name": invited.name, "email": invited.email, "wrong": ""}
    if request.method != "POST":
        return render(request, "sign-in/invitation.html", given)
    password = request.POST.get("password", "")
    if password != request.POST.get("again"):
        given["wrong"] = NOT_THE_SAME
        return render(request, "sign-in/invitation.html", given, status=400)
    try:
        accept_invitation(secret=secret, password=password, at=at)
    except PasswordTooWeak as refusal:
        given["wrong"] = refusal.message
        return render(request, "sign-in/invitation.html", given, status=400)
    except LinkUnknown:
        return render(request, "sign-in/link_unknown.html", status=410)
    messages.success(request, "Your password is set. Sign in with it.")
    return redirect("sign-in")


@never_cache
@sensitive_variables("secret", "password")
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def first_person(request: HttpRequest, secret: str) -> HttpResponse:
    """Who comes first says who they are; from then on this address is no longer good."""
    expected = first_person_secret()
    if expected is None or not constant_time_compare(secret, expected):
        return render(request, "sign-in/link_unknown.html", status=410)
    given = {name: request.POST.get(name, "") for name in ("name", "email")}
    if request.method != "POST":
        return render(request, "sign-in/first_person.html", given)
    password = request.POST.get("password", "")
    wrong = {} if password == request.POST.get("again") else {"password": NOT_THE_SAME}
    try:
        if not wrong:
            add_first_person(**given, password=password, at=timezone.now())
    except Refusal as refusal:
        wrong = {refusal.field: refusal.sentence}
    except LinkUnknown:
        return render(request, "sign-in/link_unknown.html", status=410)
    if wrong:
        return render(request, "sign-in/first_person.html", {**given, "wrong": wrong}, status=400)
    messages.success(request, "Your password is set. Sign in with it.")
    return redirect(f"{reverse('sign-in')}?next={reverse('first-day')}")
