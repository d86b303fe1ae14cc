"""Windows become usage hours, and the hours that changed are found."""

import pytest

from apps.fleet.models import Device, Node
from apps.marks.models import ChangedHour
from apps.telemetry.actions.rollup import roll_up_hour
from apps.telemetry.models import HolderKey, UsageHour
from tests.apps.telemetry.sending import batch, make_sending, this_hour, window
from tests.make import make_pool

pytestmark = pytest.mark.django_db


def usage() -> dict[tuple[str, str], tuple[list[int], list[int]]]:
    """Quarter-seconds by (device, holder), of the minutes in which anything was observed."""
    keys = dict(HolderKey.objects.values_list("id", "key"))
    uuids = dict(Device.objects.values_list("id", "uuid"))
    return {
        (uuids[row.device_id], keys[row.holder_id]): (
            [minute for minute in bytes(row.observed) if minute],
            [minute for minute in bytes(row.worked) if minute],
        )
        for row in UsageHour.objects.all()
    }


def marked(pass_id: int) -> set[int]:
    return set(ChangedHour.objects.filter(pass_id=pass_id).values_list("unit", flat=True))


def test_windows_of_one_holder_become_one_row_of_quarter_seconds():
    sending = make_sending()
    sending.post(batch([window(0), window(1, worked_seconds=60)]))
    assert roll_up_hour(hour=this_hour()) == 1
    assert usage() == {("GPU-0", "slurm/atlas/4711"): ([240, 240], [160, 240])}


def test_an_hour_that_changed_is_marked_for_the_split_and_no_longer_for_usage():
    sending = make_sending()
    sending.post(batch([window(0)]))
    ChangedHour.objects.filter(pass_id=3).delete()
    roll_up_hour(hour=this_hour())
    assert (marked(1), marked(3)) == (set(), {sending.node_id})


def test_the_same_usage_again_marks_nothing_for_the_split():
    sending = make_sending()
    sending.post(batch([window(0)]))
    roll_up_hour(hour=this_hour())
    ChangedHour.objects.all().delete()
    sending.post(batch([window(0)], sequence=1))
    assert roll_up_hour(hour=this_hour()) == 1
    assert (marked(1), marked(3)) == (set(), set())


@pytest.mark.parametrize(("option", "charged"), [("owned", {0}), ("reserved", set())])
def test_joules_that_come_late_charge_the_hour_of_owned_hardware_again(option, charged):
    sending = make_sending()
    pool_id = make_pool("another", purchase_option=option)
    Node.objects.filter(id=sending.node_id).update(pool=pool_id)
    sending.post(batch([window(0, energy_joules=41_000.0)]))
    roll_up_hour(hour=this_hour())
    ChangedHour.objects.all().delete()
    UsageHour.objects.update(energy_joules=None)
    sending.post(batch([window(0, energy_joules=41_000.0)], sequence=1))
    roll_up_hour(hour=this_hour())
    # Time stayed as it was: nothing is split for joules alone.
    assert (marked(2), marked(3)) == (charged, set())
