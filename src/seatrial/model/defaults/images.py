"""The tag of a container image's name, as github.com/distribution/reference reads it."""

import re

_COMPONENT = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_COMPONENT}(?:\.{_COMPONENT})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PATH = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?P<name>{_DOMAIN}/{_PATH}(?:/{_PATH})*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?"
    r"(?:@(?P<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?",
    re.ASCII,
)
_IDENTIFIER = re.compile("[a-f0-9]{64}")
_HUB = "docker.io"
_LONGEST_NAME = 255


def image_tag(image: str) -> str:
    """The tag: `latest` where neither tag nor digest is given, empty where the name cannot be read."""
    if _IDENTIFIER.fullmatch(image):
        return ""
    domain, rest = _split_domain(image)
    if (remote := rest.partition(":")[0]) != remote.lower():
        return ""
    match = _REFERENCE.fullmatch(f"{domain}/{rest}")
    if match is None or len(match["name"].partition("/")[2]) > _LONGEST_NAME:
        return ""
    return match["tag"] or ("" if match["digest"] else "latest")


def _split_domain(image: str) -> tuple[str, str]:
    first, slash, rest = image.partition("/")
    if not slash:
        return _HUB, f"library/{image}"
    is_domain = first == "localhost" or "." in first or ":" in first or first != first.lower()
    domain, rest = (first, rest) if is_domain else (_HUB, image)
    if domain == "index.docker.io":
        domain = _HUB
    return domain, f"library/{rest}" if domain == _HUB and "/" not in rest else rest
