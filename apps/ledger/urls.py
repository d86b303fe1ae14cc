"""Addresses of this app."""

from django.urls import path

from apps.ledger.api import Costs
from apps.ledger.api.api_spend import ApiPriceEnd, ApiPrices, ApiSpend, VendorCosts
from apps.ledger.api.bill_imports import (
    BillImportAcceptance,
    BillImportCalledOff,
    BillImportReadAgain,
    BillImports,
    BillImportUndo,
    BillImportView,
    RejectedBillRows,
)
from apps.ledger.api.bill_rules import (
    BillRuleEnd,
    BillRuleEndPreview,
    BillRulePreview,
    BillRules,
    BillRuleView,
)
from apps.ledger.api.bill_twins import BillTwinChoice, BillTwins
from apps.ledger.api.bills import Bills, BillView
from apps.ledger.api.closes import CloseJournal, Closes, CloseStatements
from apps.ledger.api.commitment_figures import (
    CommitmentEndPreview,
    CommitmentFigures,
    CommitmentPreview,
)
from apps.ledger.api.commitments import CommitmentEnd, Commitments, CommitmentView
from apps.ledger.api.explore import ExploreCosts
from apps.ledger.api.exports import ExportDetail, ExportFile, Exports
from apps.ledger.api.lines import CostLines
from apps.ledger.api.search import Search
from apps.ledger.api.unowned import Unowned

urlpatterns = [
    path("api-spend", ApiSpend.as_view(), name="rest-api-spend"),
    path("api-prices", ApiPrices.as_view(), name="rest-api-prices"),
    path("api-prices/<int:api_price_id>/end", ApiPriceEnd.as_view(), name="rest-end-api-price"),
    path("vendor-costs", VendorCosts.as_view(), name="rest-vendor-costs"),
    path("bill-rules", BillRules.as_view(), name="rest-bill-rules"),
    path("bill-rules/preview", BillRulePreview.as_view(), name="preview-bill-rule"),
    path("bill-rules/<int:bill_rule_id>", BillRuleView.as_view(), name="rest-bill-rule"),
    path("bill-rules/<int:bill_rule_id>/end", BillRuleEnd.as_view(), name="rest-end-bill-rule"),
    path(
        "bill-rules/<int:bill_rule_id>/end/preview",
        BillRuleEndPreview.as_view(),
        name="preview-bill-rule-end",
    ),
    path("bills", Bills.as_view(), name="rest-bills"),
    path("bills/<int:bill_id>", BillView.as_view(), name="rest-bill"),
    path("bills/twins", BillTwins.as_view(), name="rest-bill-twins"),
    path(
        "bills/twins/<int:bill_twin_id>/decide",
        BillTwinChoice.as_view(),
        name="rest-decide-bill-twin",
    ),
    path("bills/imports", BillImports.as_view(), name="rest-bill-imports"),
    path("bills/imports/<int:import_id>", BillImportView.as_view(), name="rest-bill-import"),
    path(
        "bills/imports/<int:import_id>/rejected",
        RejectedBillRows.as_view(),
        name="rest-rejected-bill-rows",
    ),
    path(
        "bills/imports/<int:import_id>/undo",
        BillImportUndo.as_view(),
        name="rest-undo-bill-import",
    ),
    path(
        "bills/imports/<int:import_id>/call-off",
        BillImportCalledOff.as_view(),
        name="rest-call-off-bill-import",
    ),
    path(
        "bills/imports/<int:import_id>/read-again",
        BillImportReadAgain.as_view(),
        name="rest-read-bill-import-again",
    ),
    path(
        "bills/imports/<int:import_id>/accept",
        BillImportAcceptance.as_view(),
        name="rest-accept-bill-import",
    ),
    path("closes", Closes.as_view(), name="rest-closes"),
    path(
        "closes/<int:close_id>/statements",
        CloseStatements.as_view(),
        name="rest-close-statements",
    ),
    path("closes/<int:close_id>/journal", CloseJournal.as_view(), name="rest-close-journal"),
    path("commitments", Commitments.as_view(), name="rest-commitments"),
    path("commitments/<int:commitment_id>", CommitmentView.as_view(), name="rest-commitment"),
    path(
        "commitments/<int:commitment_id>/end", CommitmentEnd.as_view(), name="rest-end-commitment"
    ),
    path("commitments/figures", CommitmentFigures.as_view(), name="commitment-figures"),
    path("commitments/preview", CommitmentPreview.as_view(), name="preview-commitment"),
    path(
        "commitments/<int:commitment_id>/end/preview",
        CommitmentEndPreview.as_view(),
        name="preview-commitment-end",
    ),
    path("costs", Costs.as_view(), name="costs"),
    path("costs/explore", ExploreCosts.as_view(), name="explore-costs"),
    path("costs/lines", CostLines.as_view(), name="cost-lines"),
    path("exports", Exports.as_view(), name="rest-exports"),
    path("exports/<int:export_id>", ExportDetail.as_view(), name="rest-export"),
    path("exports/<int:export_id>/file", ExportFile.as_view(), name="rest-export-file"),
    path("search", Search.as_view(), name="search-all"),
    path("unowned", Unowned.as_view(), name="unowned"),
]
