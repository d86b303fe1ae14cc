"""The page behind the link of an invitation: choose a password, once."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from apps.accounts.actions import LinkUnknown, PasswordTooWeak, accept_invitation
from apps.accounts.queries import invited_person


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
        given["wrong"] = "The two are not the same."
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
