"""The report page and the browser interface."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.web.comparison import page_parts
    from seatrial.web.library import Library
    from seatrial.web.live import LivePages
    from seatrial.web.page import compare_page, report_page, write_page
    from seatrial.web.ui import RunPages
else:
    __getattr__, __dir__ = lazy_exports(__name__)
