"""The pages behind the link of an invitation, and of the first person: choose a password, once."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from apps.accounts.actions import LinkUnknown, accept_invitation, add_first_person
from apps.accounts.queries import first_person_secret, invited_person
from apps.console.kit.change import frozen_fields
from apps.console.kit.entries import PasswordField, TextField
from apps.economics.refusal import Refusal


class PersonNameField(TextField):
    """The name of whoever types it, which a browser may know."""

    autocomplete = "name"


class PersonEmailField(TextField):
    """The address of whoever types it, by which they sign in."""

    kind, autocomplete = "email", "username"


class NewPasswordForm(forms.Form):
    """A password, twice."""

    password = PasswordField("Password, eight letters or more", needed="Choose a password.")
    again = PasswordField("The same again", needed="Type the same again.")

    def clean_again(self) -> None:
        """Refuses another one: what was mistyped would let nobody in."""
        if self.cleaned_data.get("password") not in (None, self.cleaned_data["again"]):
            raise forms.ValidationError("The two are not the same.")


class FirstPersonForm(NewPasswordForm):
    """Who comes first."""

    name = PersonNameField("Your name")
    email = PersonEmailField("Email")
    field_order = ("name", "email")


@never_cache
@sensitive_variables("secret")
@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
def accept(request: HttpRequest, secret: str) -> HttpResponse:
    """The form, and what it sends; then the person signs in with what they chose."""
    at = timezone.now()
    invited = invited_person(secret, at)
    if invited is None:
        return _link_unknown(request)

    def choose(entered: Mapping[str, Any]) -> str:
        accept_invitation(secret=secret, password=entered["password"], at=at)
        return reverse("sign-in")

    form = NewPasswordForm(request.POST if request.method == "POST" else None)
    return _answer(request, form, choose, "sign-in/invitation.html", {"person": invited})


@never_cache
@sensitive_variables("secret")
@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
def first_person(request: HttpRequest, secret: str) -> HttpResponse:
    """Who comes first says who they are; from then on this address is no longer good."""
    expected = first_person_secret()
    if expected is None or not constant_time_compare(secret, expected):
        return _link_unknown(request)

    def choose(entered: Mapping[str, Any]) -> str:
        profile = {name: entered[name] for name in ("name", "email", "password")}
        add_first_person(**profile, at=timezone.now())
        return f"{reverse('sign-in')}?next={reverse('first-day')}"

    form = FirstPersonForm(request.POST if request.method == "POST" else None)
    return _answer(request, form, choose, "sign-in/first_person.html", {})


@sensitive_variables("form")
def _answer(
    request: HttpRequest,
    form: forms.Form,
    choose: Callable[[Mapping[str, Any]], str],
    template: str,
    shown: Mapping[str, object],
) -> HttpResponse:
    """The form, with what is wrong at its fields; once it is whole, on to what `choose` answers."""
    if form.is_valid():
        try:
            to = choose(form.cleaned_data)
        except LinkUnknown:
            return _link_unknown(request)
        except Refusal as refusal:
            form.add_error(refusal.field, refusal.sentence)
        else:
            messages.success(request, "Your password is set. Sign in with it.")
            return redirect(to)
    template_context = {**shown, "fields": frozen_fields(form)}
    return render(request, template, template_context, status=400 if form.is_bound else 200)


def _link_unknown(request: HttpRequest) -> HttpResponse:
    return render(request, "sign-in/link_unknown.html", status=410)
