"""Addresses of placement's REST surface."""

from django.urls import path

from apps.placement.api import (
    admissions,
    fleet_moves,
    next_moves,
    offers,
    quotes,
    scheduler_documents,
    skypilot,
    slurm,
    spot_evidence,
)

urlpatterns = [
    path("admissions", admissions.Admissions.as_view(), name="api-admissions"),
    path("admissions/<int:admission_id>", admissions.OneAdmission.as_view(), name="api-admission"),
    path(
        "admissions/<int:admission_id>/override",
        admissions.OverriddenAdmission.as_view(),
        name="api-admission-override",
    ),
    path("fleet-moves", fleet_moves.FleetMoves.as_view(), name="api-fleet-moves"),
    path(
        "fleet-moves/looks",
        fleet_moves.FleetMoveDetectionRuns.as_view(),
        name="api-fleet-move-looks",
    ),
    path("offers", offers.Offers.as_view(), name="api-offers"),
    path("egress-prices", offers.EgressPrices.as_view(), name="api-egress-prices"),
    path("quotes", quotes.Quotes.as_view(), name="api-quotes"),
    path("quotes/calibration", quotes.QuoteCalibrations.as_view(), name="api-quote-calibration"),
    path("quotes/<int:quote_id>", quotes.OneQuote.as_view(), name="api-quote"),
    path("quotes/<int:quote_id>/taken", quotes.TakenQuote.as_view(), name="api-quote-taken"),
    path("placements/<int:job_id>/next", next_moves.NextMoves.as_view(), name="api-next-move"),
    path(
        "spot-evidence/regions",
        spot_evidence.SpotRegionList.as_view(),
        name="api-spot-regions",
    ),
    path(
        "schedulers/kueue",
        scheduler_documents.KueueDocuments.as_view(),
        name="api-kueue-documents",
    ),
    path(
        "schedulers/karpenter",
        scheduler_documents.KarpenterDocuments.as_view(),
        name="api-karpenter-documents",
    ),
    path(
        "schedulers/karpenter/overlays",
        scheduler_documents.KarpenterOverlays.as_view(),
        name="api-karpenter-overlays",
    ),
    path("schedulers/ray", scheduler_documents.RayDocuments.as_view(), name="api-ray-documents"),
    path("schedulers/skypilot/policy", skypilot.SkyPolicy.as_view(), name="api-skypilot-policy"),
    path("placements/slurm-weights", slurm.SlurmWeights.as_view(), name="api-slurm-weights"),
    path("placements/slurm-cache", slurm.SlurmCacheView.as_view(), name="api-slurm-cache"),
    path("spot-evidence", spot_evidence.SpotEvidenceList.as_view(), name="api-spot-evidence"),
]
