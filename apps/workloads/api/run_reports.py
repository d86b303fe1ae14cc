"""POST run-reports: what training runs say of themselves."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import needs
from apps.accounts.queries import Scope, TokenFact
from apps.economics.refusal import Refusal
from apps.fleet.queries import cluster_of_token
from apps.web.rest.bodies import json_body
from apps.workloads.actions.report_shapes import RunReportIn
from apps.workloads.actions.run_reports import (
    Reporter,
    ReportTaken,
    record_reports,
)
from apps.workloads.api.rows import RowFault, RowsTakenOut
from apps.workloads.api.run_wire import (
    MOST_REPORTS,
    RunReportsUnreadable,
    read_report,
    report_schema,
    reports_in,
)
from apps.workloads.api.wire import BodyUnreadable, Fault


class RunReportRefused(BodyUnreadable):
    """A token speaks for another team's run, or for another cluster than its own."""


class RunRowOut(serializers.Serializer[Any]):
    """The outcome of one report; not changed: it had been taken before."""

    row = serializers.IntegerField()
    run = serializers.IntegerField()
    changed = serializers.BooleanField()


class RunReportsOut(RowsTakenOut):
    """The outcome of the reports: good ones are kept, bad ones of a list are listed."""

    results = RunRowOut(many=True)
    errors = RowFault(many=True)  # type: ignore[assignment]  # the wire's word


REPORT = report_schema()
BODY = {"oneOf": [REPORT, {"type": "array", "maxItems": MOST_REPORTS, "items": REPORT}]}


class RunReports(APIView):
    """The reports of training runs about themselves, one report or many at once, gzipped or not."""

    counted_as = "events"
    permission_classes = (needs(Scope.RUNS),)

    @extend_schema(
        operation_id="record_run_reports",
        request={"application/json": BODY},
        responses=RunReportsOut,
    )
    def post(self, request: Request) -> Response:
        """Take one report, or all of a list that can be read; the same ones again change nothing.

        A lone report that cannot be taken is refused; of a list each is answered by its row.
        """
        at = timezone.now()
        raw, is_list = reports_in(json_body(request))
        read = [read_report(raw_report, at=at, row=row) for row, raw_report in enumerate(raw)]
        good = {row: one for row, one in enumerate(read) if isinstance(one, RunReportIn)}
        answers = record_reports(reports=list(good.values()), teller=_run_teller(request), at=at)
        taken = {
            row: one for row, one in zip(good, answers, strict=True) if isinstance(one, ReportTaken)
        }
        faults = [one for one in read if isinstance(one, Fault)]
        foreign = [
            Fault(one.field, one.message, row)
            for row, one in zip(good, answers, strict=True)
            if isinstance(one, Refusal)
        ]
        if not is_list:
            _refuse_lone_report(faults, foreign)
        faults = sorted([*faults, *foreign], key=lambda fault: fault.row or 0)
        return Response(_serialize_reported(taken, faults))


def _refuse_lone_report(faults: list[Fault], foreign: list[Fault]) -> None:
    for fault in faults:
        raise RunReportsUnreadable(Fault(fault.field, fault.message))
    for fault in foreign:
        raise RunReportRefused(Fault(fault.field, fault.message))


def _serialize_reported(taken: dict[int, ReportTaken], faults: list[Fault]) -> dict[str, Any]:
    return {
        "accepted": len(taken),
        "changed": sum(1 for report in taken.values() if report.is_changed),
        "results": [
            {"row": row, "run": report.run_id, "changed": report.is_changed}
            for row, report in sorted(taken.items())
        ],
        "errors": [fault.document() for fault in faults],
    }


def _run_teller(request: Request) -> Reporter:
    if not isinstance(request.auth, TokenFact):
        return Reporter()
    return Reporter(request.auth.team_id, cluster_of_token(request.auth.id))
