"""Static files are found once in a process: every client of every test would look for them anew."""

from typing import ClassVar

from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFilesFoundOnce(WhiteNoiseMiddleware):
    """Serves as the product's does."""

    found: ClassVar[dict[str, object]] = {}

    def add_files_from_finders(self) -> None:
        """As before, if it did before."""
        if not self.found:
            super().add_files_from_finders()
            self.found.update(self.files)
        self.files.update(self.found)
