"""What the fields of built-in types mean: the data file in this folder, for `kubectl explain`."""

from functools import cache
from importlib.resources import files

from seatrial.model.yaml_reader import load


def descriptions_of(name: str) -> dict[str, str]:
    """What the fields of a type mean, by field; that of the empty name is the type's own. Not all types have them."""
    group, _, short = name.rpartition(".")
    return descriptions().get(group, {}).get(short, {})


@cache
def descriptions() -> dict[str, dict[str, dict[str, str]]]:
    """All descriptions: by package, type and field."""
    found: dict[str, dict[str, dict[str, str]]] = load(files(__package__).joinpath("descriptions.yaml").read_bytes())
    return found
