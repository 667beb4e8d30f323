"""The time of day as reports and records write it."""

from datetime import UTC, datetime


def rfc3339(seconds: float) -> str:
    """A moment in local time, as Go's time.RFC3339 writes it."""
    moment = datetime.fromtimestamp(seconds).astimezone()
    text = moment.isoformat(timespec="seconds")
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text


def utc() -> str:
    """Now, as Kubernetes writes times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
