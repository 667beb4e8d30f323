"""Numbers as people write them."""


def figure(value: float | None) -> str:
    """A number in at most four digits, whole ones whole; a dash where it is missing."""
    if value is None:
        return "–"
    return str(int(value)) if float(value).is_integer() else f"{value:.4g}"
