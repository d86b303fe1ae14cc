"""Windows to the usage of one hour: what each device and holder did, minute by minute."""

from apps.economics.usage.columns import ColumnsDiffer, UsageRow, WindowColumns
from apps.economics.usage.hour import usage_of_hour
