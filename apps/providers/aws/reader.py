"""Readers of AWS, by the kind of what is read. Loads AWS's libraries."""

from collections.abc import Mapping

from apps.providers.aws.exports import open_export
from apps.providers.aws.limits import read_quotas, read_reservations
from apps.providers.aws.machines import read_machines
from apps.providers.aws.prices import read_on_demand_prices, read_spot_prices
from apps.providers.aws.purchases import read_reserved_instances, read_savings_plans
from apps.providers.reading import BillReader, FactReader

READERS: Mapping[str, FactReader] = {
    "spot_prices": read_spot_prices,
    "on_demand_prices": read_on_demand_prices,
    "reserved_instances": read_reserved_instances,
    "savings_plans": read_savings_plans,
    "reservations": read_reservations,
    "quotas": read_quotas,
    "machines": read_machines,
}
open_bills: BillReader = open_export
