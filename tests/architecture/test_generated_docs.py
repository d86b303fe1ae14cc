"""Pages of the documentation that are made of declared values are as these are now."""

import pytest

from deploy.write_docs import DOCS, GENERATED_PAGES, generated_page


@pytest.mark.parametrize("name", GENERATED_PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == generated_page(name), "python -m deploy.write_docs"
