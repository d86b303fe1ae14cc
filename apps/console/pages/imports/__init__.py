"""Files of jobs by browser: sent, looked at, their columns said, then imported in the background."""

from apps.console.pages.imports.changes import discard, read_so, start, upload
from apps.console.pages.imports.views import imports, one_import, rejected_csv

__all__ = ["discard", "imports", "one_import", "read_so", "rejected_csv", "start", "upload"]
