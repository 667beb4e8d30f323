"""The report page and the browser interface."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.web.page import compare_page, report_page, write_page

__all__ = ["compare_page", "report_page", "write_page"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "compare_page": "page",
            "report_page": "page",
            "write_page": "page",
        },
    )
