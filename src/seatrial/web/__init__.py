"""The report page and the browser interface."""
