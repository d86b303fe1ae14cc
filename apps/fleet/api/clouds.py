"""Cloud accounts over the wire: what is read of them, and how that goes."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.fleet.queries.clouds import CloudAccountFact, SyncHealth, cloud_accounts, sync_health
from apps.providers.cloud import CloudFault
from apps.providers.registry import clouds, permissions_for
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.views import PricesView

STATES = ("never", "running", "done", "failed")
SAME_OF_ACCOUNT = ("id", "name", "provider", "account", "regions", "role_arn", "export_uri")
SAME_OF_SYNC = (
    *("what", "started_at", "ended_at", "succeeded_at", "due_at"),
    *("counts", "error", "fault", "note"),
)


class SyncOut(Answer[SyncHealth]):
    """One thing that is read: how the last time went, what went wrong, and when it comes again.

    `due_at` null: as soon as a worker is free. `error` is in words; `fault` says why it broke off where
    that decides what to do. `permissions` are what whoever asks must be allowed.
    """

    without = ("account_id", "account", "provider", "wanted_at")
    state = serializers.ChoiceField(choices=STATES)
    counts = serializers.DictField(child=serializers.IntegerField())
    fault = serializers.ChoiceField(choices=[fault.value for fault in CloudFault])
    permissions = serializers.ListField(child=serializers.CharField())


class CloudAccountOut(Answer[CloudAccountFact]):
    """An account (AWS) or project (Google Cloud) that is read from; keys are never kept."""

    without = ("export_region",)
    provider = serializers.ChoiceField(choices=tuple(clouds()))
    syncs = SyncOut(many=True)


class CloudAccounts(PricesView):
    """The cloud accounts that are read, for finance and platform."""

    row = CloudAccountOut

    @extend_schema(
        operation_id="list_cloud_accounts", parameters=[*PAGES], responses=list_of(CloudAccountOut)
    )
    def get(self, request: Request) -> Response:
        """Accounts by name, each with everything that is read of it."""
        Parameters.of(request)
        health = sync_health()
        page = slice_of(
            cloud_accounts(), parse_page_request(request), key=lambda account: (account.name,)
        )
        return paged(request, page, lambda account: _serialize_account(account, health))


def _serialize_account(account: CloudAccountFact, health: list[SyncHealth]) -> dict[str, Any]:
    serialized = {name: getattr(account, name) for name in SAME_OF_ACCOUNT}
    syncs = [_serialize_sync(sync) for sync in health if sync.account_id == account.id]
    return serialize_as(CloudAccountOut, serialized | {"syncs": syncs})


def _serialize_sync(health: SyncHealth) -> dict[str, Any]:
    details = {
        "state": health.state or "never",
        "permissions": list(permissions_for(health.provider, health.what)),
    }
    return {name: getattr(health, name) for name in SAME_OF_SYNC} | details
