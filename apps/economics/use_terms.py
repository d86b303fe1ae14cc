"""Platforms, tenancies and reservations of machines by one spelling each, whoever tells them.

Sources: EC2 User Guide, "AMI billing information fields" (platform details and usage operations);
`DescribeInstances` and `DescribeReservedInstances`; the columns `product/operatingSystem`,
`product/tenancy` and `lineItem/Operation` of Cost and Usage Reports; as of 2026-11.
"""

import re

LINUX, WINDOWS, RHEL, SUSE, UBUNTU_PRO = "linux", "windows", "rhel", "suse", "ubuntu_pro"
LINUX_SQL, WINDOWS_SQL, RHEL_SQL = "linux_sql", "windows_sql", "rhel_sql"
DEFAULT_PLATFORM, DEFAULT_TENANCY = LINUX, "default"
PLATFORMS = (LINUX, WINDOWS, RHEL, SUSE, UBUNTU_PRO, LINUX_SQL, WINDOWS_SQL, RHEL_SQL)
TENANCIES = (DEFAULT_TENANCY, "dedicated", "host")
# The first that fits tells it: SQL Server is bought with the system that it is on.
SPELLINGS = (
    (re.compile(r"\bwin(dows)?\b.*\bsql\b", re.IGNORECASE), WINDOWS_SQL),
    (re.compile(r"\b(red ?hat|rhel)\b.*\bsql\b", re.IGNORECASE), RHEL_SQL),
    (re.compile(r"\bsql\b", re.IGNORECASE), LINUX_SQL),
    (re.compile(r"\bwin(dows)?\b", re.IGNORECASE), WINDOWS),
    # A licence that is brought along is billed as plain Linux.
    (re.compile(r"\bred ?hat byol\b", re.IGNORECASE), LINUX),
    (re.compile(r"\bred ?hat\b|\brhel\b", re.IGNORECASE), RHEL),
    (re.compile(r"\bsuse\b|\bsles\b", re.IGNORECASE), SUSE),
    (re.compile(r"\bubuntu pro\b", re.IGNORECASE), UBUNTU_PRO),
    (re.compile(r"\blinux\b|\bunix\b|\bubuntu\b|\bdebian\b", re.IGNORECASE), LINUX),
)
OPERATION = re.compile(r"RunInstances(?::([0-9a-z]{4}))?(?::SV\d+)?", re.IGNORECASE)
OPERATIONS = {
    "": LINUX,
    "00g0": LINUX,
    "0010": RHEL,
    "1010": RHEL,
    "1014": RHEL_SQL,
    "1110": RHEL_SQL,
    "0014": RHEL_SQL,
    "0210": RHEL_SQL,
    "0110": RHEL_SQL,
    "0100": LINUX_SQL,
    "0004": LINUX_SQL,
    "0200": LINUX_SQL,
    "000g": SUSE,
    "0g00": UBUNTU_PRO,
    "0002": WINDOWS,
    "0800": WINDOWS,
    "0102": WINDOWS_SQL,
    "0006": WINDOWS_SQL,
    "0202": WINDOWS_SQL,
}
SHARED = frozenset({"default", "shared"})
RESERVATION = re.compile(r"(?:^|[/:])(cr-[0-9a-f]{8,17})$", re.IGNORECASE)


def platform_of(value: str) -> str:
    """One of PLATFORMS, however it is spelt; empty where it is not said, or not understood."""
    text = value.strip()
    if text.lower() in PLATFORMS:
        return text.lower()
    if operation := OPERATION.fullmatch(text):
        return OPERATIONS.get((operation[1] or "").lower(), "")
    return next((platform for pattern, platform in SPELLINGS if pattern.search(text)), "")


def tenancy_of(value: str) -> str:
    """One of TENANCIES, however it is spelt; empty where it is not said, or not understood."""
    text = value.strip().lower()
    if text in SHARED:
        return DEFAULT_TENANCY
    return text if text in TENANCIES else ""


def reservation_of(value: str) -> str:
    """The id alone of a capacity reservation that may be said with all its path; else what is said."""
    text = value.strip()
    id_match = RESERVATION.search(text)
    return id_match[1].lower() if id_match else text
