"""Every refusal the service can give, mapped once to an HTTP status and a problem document."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db import DatabaseError, DataError
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseBase,
    JsonResponse,
)
from django.shortcuts import render
from django.views.defaults import page_not_found, server_error
from rest_framework import exceptions
from rest_framework.response import Response

from apps.accounts import actions as accounts
from apps.accounts.queries import NoOrganisation
from apps.accounts.queries.paging import CursorNotUnderstood
from apps.economics.refusal import Refusal
from apps.files import PlaceFull, PlaceUnreachable
from apps.files.trouble import FULL
from apps.fleet import actions as fleet
from apps.ledger.actions import (
    bill_twins,
    bill_uploads,
    bills,
    close,
    closed,
    exports,
    settle,
    vendor_costs,
)
from apps.ledger.queries import conversion
from apps.logs.context import current_request
from apps.placement import actions as placement
from apps.placement.queries.quote_answer import NoOfferBook
from apps.planning import actions as planning
from apps.planning.actions import plans
from apps.planning.actions import requests as capacity
from apps.pricing import actions as pricing
from apps.pricing.actions import api_prices, price_table
from apps.review import actions as review
from apps.review.queries.channels import AddressNotReadable
from apps.telemetry import api as telemetry
from apps.unit_economics.queries import unit_costs
from apps.uploads import imports as uploaded
from apps.web.rest.bodies import GzipUnreadable
from apps.web.rest.problems import framework_problem, problem, problem_answer, title_of
from apps.workloads.actions import pool_capacity, rules, slos, workloads
from apps.workloads.api import rows, run_reports
from apps.workloads.api import views as jobs
from apps.workloads.api import wire as job_wire
from controlplane.database_trouble import (
    AWAY,
    NOT_MIGRATED,
    DatabaseAnswer,
    constraint_of,
    database_answer,
)
from controlplane.schema_state import read_schema_state

log = logging.getLogger(__name__)

STATUS_OF: dict[type[Exception], int] = {
    # What is wrong with a field, where no line below says otherwise.
    Refusal: 400,
    ObjectDoesNotExist: 404,
    CursorNotUnderstood: 400,
    NoOrganisation: 409,
    PlaceFull: 507,
    PlaceUnreachable: 503,
    accounts.AlreadyBootstrapped: 409,
    accounts.GroupsGrantNothing: 403,
    accounts.LastManager: 409,
    accounts.NamesNotReadable: 409,
    accounts.RemovalUnderWay: 409,
    accounts.LinkUnknown: 410,
    accounts.PersonDeactivated: 403,
    accounts.PersonExists: 409,
    accounts.ProvidedAddressNotVerified: 403,
    accounts.RepeatDiffers: 409,
    accounts.TeamNameTaken: 409,
    accounts.TeamTreeLoops: 409,
    accounts.TokenAlreadyRevoked: 409,
    fleet.CloudAccountNameTaken: 409,
    fleet.ClusterNameTaken: 409,
    fleet.InvitationExpired: 410,
    fleet.InvitationSpent: 409,
    fleet.InvitationUnknown: 401,
    fleet.JoinTokenOver: 410,
    fleet.JoinTokenUnknown: 401,
    fleet.NodeAlreadyEnded: 409,
    fleet.NodeHasAnAgent: 409,
    fleet.NodeNameOdd: 400,
    fleet.NodeNameTaken: 409,
    fleet.NodeNotAliveThen: 409,
    fleet.NodeNotOfToken: 403,
    fleet.NodeNotOnRecord: 409,
    fleet.NodeTurnedAway: 403,
    fleet.NodeWaits: 409,
    fleet.PoolNameTaken: 409,
    fleet.SyncRunsAlready: 409,
    fleet.SyncTakenOver: 409,
    fleet.TrustIncidentDecided: 409,
    fleet.WaitingNodeDecided: 409,
    bill_twins.TwinDecided: 409,
    bill_uploads.BillImportOver: 409,
    bill_uploads.BillFileNotStored: 409,
    bills.DeliveryCalledOff: 409,
    bills.DeliveryNotNewest: 409,
    bills.DeliveryNotUndoable: 409,
    bills.DeliveryRefused: 400,
    bills.NothingToAccept: 409,
    bills.ReasonMissing: 400,
    closed.MonthAlreadyClosed: 409,
    exports.TooManyExports: 409,
    close.ItemsNotAccepted: 409,
    close.MonthNotClosed: 409,
    close.MonthNotOver: 409,
    close.MonthNotReady: 409,
    close.NoOpenMonth: 409,
    conversion.RateOfExchangeMissing: 409,
    unit_costs.UnknownUnitGroup: 400,
    vendor_costs.VendorCostsNotUnderstood: 400,
    capacity.AnotherPersonDecides: 409,
    capacity.RequestDecidedByManagers: 403,
    capacity.RequestNotOpen: 409,
    planning.BudgetNameTaken: 409,
    planning.GpuQuotaExists: 409,
    planning.PowerLimitNameTaken: 409,
    planning.HeadroomNameTaken: 409,
    planning.PortfolioRefused: 409,
    plans.WhatIfPlanExists: 409,
    NoOfferBook: 409,
    placement.QuoteTaken: 409,
    placement.NothingToOverride: 409,
    api_prices.ApiPriceAlreadyEnded: 409,
    api_prices.ApiPriceOverlaps: 409,
    price_table.ColumnsUnknown: 400,
    settle.NotSettled: 503,
    planning.ScenarioExists: 409,
    pricing.CommitmentAlreadyEnded: 409,
    pricing.CommitmentExists: 409,
    pricing.DecidedByFinance: 403,
    pricing.NoteMissing: 400,
    pricing.OwnedPlanAlreadyEnded: 409,
    pricing.OwnedPlanExists: 409,
    pricing.RateAlreadyEnded: 409,
    pricing.RateNotInForce: 409,
    pricing.RateNotWaiting: 409,
    pricing.RateOverlaps: 409,
    pricing.SecondPersonNeeded: 409,
    pricing.SharedCostAlreadyEnded: 409,
    pricing.SharedCostExists: 409,
    AddressNotReadable: 409,
    review.RecommendationIsSo: 409,
    review.RecommendationsKept: 409,
    telemetry.AuthenticationRefused: 401,
    telemetry.BatchTooLarge: 413,
    telemetry.BatchUnreadable: 400,
    telemetry.EncodingUnknown: 415,
    telemetry.LengthMissing: 411,
    telemetry.NodeOfAnotherToken: 403,
    telemetry.PartitionsBusy: 503,
    telemetry.TokenLacksScope: 403,
    telemetry.TokenWithoutAgent: 403,
    job_wire.BodyUnreadable: 400,
    jobs.ClusterOfAnotherToken: 403,
    rows.TooManyRows: 413,
    GzipUnreadable: 400,
    run_reports.RunReportRefused: 403,
    rules.RuleAlreadyEnded: 409,
    rules.RuleExists: 409,
    pool_capacity.CapacityOutsideLife: 409,
    slos.ObjectiveAlreadyEnded: 409,
    slos.ObjectiveExists: 409,
    uploaded.ImportAlreadyOver: 409,
    uploaded.ImportNotReady: 409,
    workloads.WorkloadExists: 409,
}
"""Each app's refusals stand here beside the status they are answered with."""


def status_of(refusal: Exception) -> int | None:
    """The status of an anticipated refusal; None for a bug."""
    for kind in type(refusal).__mro__:
        if kind in STATUS_OF:
            return STATUS_OF[kind]
    if isinstance(refusal, OSError) and refusal.errno in FULL:
        # What Django keeps of a form lies on a disk too.
        return STATUS_OF[PlaceFull]
    return None


def problem_response(refusal: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's exception handler: refusals become problem documents, bugs propagate."""
    if isinstance(refusal, exceptions.APIException):
        return framework_problem(refusal)
    method = getattr(context.get("request"), "method", None) or ""
    found = _refusal_document(refusal, method)
    if found is None:
        return None
    document, headers = found
    response = problem_answer(document["status"], document)
    for name, value in headers.items():
        response[name] = value
    return response


Headers = dict[str, str]
OF_STATUS: Mapping[int, Headers] = {
    401: {"WWW-Authenticate": "Bearer"},
    503: {"Retry-After": str(AWAY.retry_after)},
}
"""Who has to say who they are, and when to ask again."""


def _refusal_document(refusal: Exception, method: str) -> tuple[dict[str, Any], Headers] | None:
    """The problem document of a refusal, the database's too, and what its answer bears; None for a bug."""
    status = 403 if isinstance(refusal, PermissionDenied) else status_of(refusal)
    if status is not None:
        errors = getattr(refusal, "errors", None)
        return problem(status, title_of(refusal), str(refusal), errors), OF_STATUS.get(status, {})
    if (detail := unkeepable(refusal)) is not None:
        return problem(400, "Text unreadable", detail), {}
    answer = _database_answer(refusal)
    if answer is None:
        return None
    _log_database_answer(refusal, answer)
    # What is posted may come from a machine: one that is told 409 never sends it again.
    is_sent_again = method == DELIVERY or (method == "POST" and answer.is_passing)
    answer = answer.for_machines() if is_sent_again else answer
    headers = {} if answer.retry_after is None else {"Retry-After": str(answer.retry_after)}
    return problem(answer.status, answer.title, answer.detail), headers


def _database_answer(trouble: Exception) -> DatabaseAnswer | None:
    """A column that is missing though nothing waits to be migrated is a bug."""
    answer = database_answer(trouble)
    if answer is NOT_MIGRATED:
        try:
            state = read_schema_state()
        except DatabaseError:
            return None
        return None if state.fits and not state.unknown else answer
    return answer


def _log_database_answer(trouble: Exception, answer: DatabaseAnswer, path: str = "") -> None:
    log.warning(
        "database_refused kind=%s status=%s constraint=%s path=%s",
        type(trouble.__cause__ or trouble).__name__,
        int(answer.status),
        constraint_of(trouble),
        path,
        # What was broken, and where, is said in full: it may be a rule that should have a name.
        exc_info=None if answer.status == 503 else trouble,
    )


def unkeepable(trouble: Exception) -> str | None:
    """Why what was sent can be read or kept by nobody; None for any other trouble.

    A refusal of ours that names the field says it better.
    """
    if status_of(trouble) is not None:
        return None
    if isinstance(trouble, RecursionError):
        return "The body is nested deeper than anything here is."
    told = str(trouble) if isinstance(trouble, ValueError | DataError | psycopg.DataError) else ""
    if "NUL" in told or r"\u0000" in told:
        return "A text holds a NUL character, which no text may."
    return None


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """No such address: a problem document under /api/, a page elsewhere."""
    if not request.path.startswith("/api/"):
        return page_not_found(request, exception)
    return JsonResponse(
        problem(404, "Not found", "There is nothing at this address."),
        status=404,
        content_type="application/problem+json",
    )


DELIVERY = "delivery"
"""In place of a method: what an agent keeps until it is taken, and sends again unless it is refused for good."""


def plain_problem(trouble: Exception, method: str) -> HttpResponse | None:
    """The answer of a view that DRF has no hand in; None for a bug."""
    found = _refusal_document(trouble, method)
    if found is None:
        return None
    document, headers = found
    response = _problem_json(document)
    for name, value in headers.items():
        response[name] = value
    return response


def delivery_problem(trouble: Exception) -> HttpResponse | None:
    """The answer to a batch that could not be kept; None for a bug."""
    return plain_problem(trouble, DELIVERY)


def unexpected_problem() -> HttpResponse:
    """Return the answer to a bug: a problem document with the id under which the log has it."""
    detail = (
        "Something broke on our side; nothing of this request was kept. The server's log has the "
        f"reason under request {current_request()}."
    )
    return _problem_json(problem(500, "Unexpected error", detail))


def broken(request: HttpRequest) -> HttpResponseBase:
    """Answer what nobody anticipated: a problem document under /api/, a page elsewhere."""
    if request.path.startswith("/api/"):
        return unexpected_problem()
    return server_error(request)


def _problem_json(document: Mapping[str, Any]) -> HttpResponse:
    return JsonResponse(
        document, status=document["status"], content_type="application/problem+json"
    )


def answer_database_trouble(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: refusals of plain API views as problem documents; the database's as pages in words."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    def process_exception(request: HttpRequest, trouble: Exception) -> HttpResponseBase | None:
        if request.path.startswith("/api/"):
            return plain_problem(trouble, request.method or "")
        if (detail := unkeepable(trouble)) is not None:
            return HttpResponseBadRequest(detail)
        if isinstance(trouble, ObjectDoesNotExist):
            log.warning("row_gone path=%s", request.path, exc_info=trouble)
            return page_not_found(request, trouble)
        answer = _database_answer(trouble)
        if answer is None:
            return None
        _log_database_answer(trouble, answer, request.path)
        return trouble_page(request, answer)

    middleware.process_exception = process_exception  # type: ignore[attr-defined]  # Django's hook
    return middleware


def trouble_page(request: HttpRequest, answer: DatabaseAnswer) -> HttpResponse:
    """Return the page that says in words what the database refused, and what to do."""
    template = "503.html" if answer is AWAY else "database_trouble.html"
    response = render(request, template, {"answer": answer}, status=answer.status)
    if answer.retry_after is not None:
        response["Retry-After"] = str(answer.retry_after)
    return response
