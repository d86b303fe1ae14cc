"""Placement's tables."""

from apps.placement.models.admissions import JobAdmission
from apps.placement.models.moves import FleetMove, FleetMoveLook, FleetMoveProposal
from apps.placement.models.offers import BookOffer, OfferBook
from apps.placement.models.personal import PERSONAL_FIELDS
from apps.placement.models.places import AcceleratorRegion, EgressPrice
from apps.placement.models.quotes import JobQuote
from apps.placement.models.spot import KeptSpotPlan, SpotSeries
