"""Pricing's tables."""

from apps.pricing.models.api import ApiPrice, ApiVendor
from apps.pricing.models.commitments import CloudQuota, Commitment, CommitmentKindChoice
from apps.pricing.models.exchange import ExchangeKind, ExchangeRate
from apps.pricing.models.owned import OwnedCost, OwnedPlan, PowerTariff
from apps.pricing.models.personal import PERSONAL_FIELDS
from apps.pricing.models.rates import NodePricePolicy, Rate, RateKind, RateStanding, RateUnit
from apps.pricing.models.shared import SharedCost, SharedWeight, ShareMethod
from apps.pricing.models.spot import SpotRepeat
