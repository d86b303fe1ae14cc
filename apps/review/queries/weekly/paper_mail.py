"""A weekly review as a mail: as many rows as there is room for in 100 KB."""

from dataclasses import dataclass, replace

from apps.review.queries.weekly.paper import ReviewPaper, review_document
from apps.show.document import OutgoingDocument, document_html, document_text

MOST_BYTES = 96_000
"""Of HTML and text together; the rest of 100 KB is for what a mail has around them."""
ROWS = (25, 15, 8, 4, 2, 0)
MOST_PRINTED = 500
"""Rows of a table in a PDF: some 25 sheets. The CSV has all."""


@dataclass(frozen=True, slots=True)
class MailedReview:
    """The two parts of a mail, and the document that they are of."""

    document: OutgoingDocument
    html: str
    text: str

    @property
    def size_bytes(self) -> int:
        """Both parts together."""
        return len(self.html.encode()) + len(self.text.encode())


def mailed_review(paper: ReviewPaper) -> MailedReview:
    """The most expensive rows of each table that fit, and what the others come to."""
    for most in ROWS:
        document = review_document(replace(paper, most_rows=most))
        mailed = MailedReview(document, document_html(document), document_text(document))
        if mailed.size_bytes <= MOST_BYTES:
            break
    return mailed


def printed_review(paper: ReviewPaper) -> OutgoingDocument:
    """Return the document that the PDF is of."""
    return review_document(replace(paper, most_rows=MOST_PRINTED))
