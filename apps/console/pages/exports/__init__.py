"""Files of ledger rows: asked for, watched, fetched and called off."""

from apps.console.pages.exports.changes import ask, cancel
from apps.console.pages.exports.views import export_file, exports

__all__ = ["ask", "cancel", "export_file", "exports"]
