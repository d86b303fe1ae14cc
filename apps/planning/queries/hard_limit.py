"""Whether a limit is hard: what admissions answer to jobs over it."""

from apps.show.entries import Entry

HARD_LIMIT = Entry(
    "Enforcement",
    "What admissions answer.",
    help="admissions over it are denied, else warned of",
    choices={"": "Warn (soft)", "hard": "Deny (hard)"},
)
OVER_IT = {False: "warn", True: "deny"}
"""What admissions do to jobs over a limit, by whether it is hard."""
