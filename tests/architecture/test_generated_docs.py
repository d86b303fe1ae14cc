"""Pages of the documentation that are made of declared values are as these are now."""

import pytest

from deploy.write_docs import DOCS, generated_pages


@pytest.mark.parametrize("name", generated_pages())
def test_a_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == generated_pages()[name], "python -m deploy.write_docs"
