"""The tables of unit economics: parts of the ledger's lines. They are named for where they began."""

from apps.unit_economics.models.personal import PERSONAL_FIELDS
from apps.unit_economics.models.runs import RunDay, RunFigures
from apps.unit_economics.models.services import ServiceCount, ServiceDay, ServicePart, ServiceTotal
