"""Placement's tables."""

from apps.placement.models.egress import EgressPrice
from apps.placement.models.offers import BookOffer, OfferBook
from apps.placement.models.quotes import Quote
