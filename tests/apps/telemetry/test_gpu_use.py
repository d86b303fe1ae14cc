"""Memory and work of GPUs while somebody held them."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.telemetry.actions.partitions import ensure_days
from apps.telemetry.models import TelemetryWindow
from apps.telemetry.queries.memory import GpuUse, HeldDevice, gpu_use

pytestmark = pytest.mark.django_db
TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


def plant(
    minute: int, memory: int | None, worked: float | None, *, holder: int = 0, device: int = 7
) -> None:
    ensure_days([TEN.date()])
    TelemetryWindow.objects.create(
        starts_at=TEN + timedelta(minutes=minute), device_id=device, holder_id=holder, agent_id=1, boot=1,
        length_ms=600_000, source=1, flags=0, observed_seconds=600.0, worked_seconds=worked, memory_used_bytes=memory,
    )  # fmt: skip


def used(starts: int = 0, ends: int = 60) -> GpuUse | None:
    held = HeldDevice(3, 7, TEN + timedelta(minutes=starts), TEN + timedelta(minutes=ends))
    return gpu_use([held]).get(3)


def test_of_windows_while_it_was_held_the_most_memory_counts() -> None:
    plant(0, 90, 600.0)
    plant(10, 50, 300.0)
    plant(20, 40, 0.0)
    plant(30, 99, 600.0)
    plant(20, 1_000, 600.0, device=8)
    assert used(10, 30) == GpuUse(50, 1_200.0, 0.25)


def test_the_gpus_own_reading_counts_beside_its_processes() -> None:
    plant(0, 70, 300.0)
    plant(0, 60, 300.0, holder=1)
    plant(0, 20, 300.0, holder=2)
    assert used() == GpuUse(70, 600.0, 0.5)


def test_without_it_processes_count_together() -> None:
    plant(0, 60, 300.0, holder=1)
    plant(0, 20, 600.0, holder=2)
    assert used() == GpuUse(80, 600.0, 1.0)


def test_what_was_not_told_is_not_known() -> None:
    assert used() is None
    plant(0, None, None)
    assert used() == GpuUse(None, 0.0, None)
    assert gpu_use([]) == {}


def test_the_busiest_hour_of_twenty_counts_as_it_is() -> None:
    for hour in range(20):
        ensure_days([(TEN + hour * HOUR).date()])
        plant(hour * 60, 10, 60.0 if hour < 18 else 540.0)
    assert used(0, 20 * 60) == GpuUse(10, 12_000.0, 0.9)
