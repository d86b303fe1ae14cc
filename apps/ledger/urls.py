"""Addresses of this app."""

from django.urls import path

from apps.ledger.api import Costs
from apps.ledger.api.bills import Bills
from apps.ledger.api.exports import Export, ExportFile, Exports
from apps.ledger.api.lines import CostLines
from apps.ledger.api.search import Search
from apps.ledger.api.unowned import Unowned

urlpatterns = [
    path("bills", Bills.as_view(), name="rest-bills"),
    path("costs", Costs.as_view(), name="costs"),
    path("costs/lines", CostLines.as_view(), name="cost-lines"),
    path("exports", Exports.as_view(), name="rest-exports"),
    path("exports/<int:export_id>", Export.as_view(), name="rest-export"),
    path("exports/<int:export_id>/file", ExportFile.as_view(), name="rest-export-file"),
    path("search", Search.as_view(), name="search-all"),
    path("unowned", Unowned.as_view(), name="unowned"),
]
