"""Files of jobs by browser: sent, looked at, their columns said, then imported in the background."""

from apps.console.pages.imports.changes import discard, read_so, start, upload
from apps.console.pages.imports.views import (
    imports,
    imports_csv,
    one_import,
    rejected_csv,
    trial_csv,
)

__all__ = [
    "discard",
    "imports",
    "imports_csv",
    "one_import",
    "read_so",
    "rejected_csv",
    "start",
    "trial_csv",
    "upload",
]
