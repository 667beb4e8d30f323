"""The templates of the Helm chart use every value and no other; helm reads the chart in tests/outside."""

import re
from pathlib import Path

import yaml

CHART = Path(__file__).parents[2] / "deploy" / "helm" / "seatrial-operator"


def test_the_templates_use_every_value_and_no_other() -> None:
    used = set(re.findall(r"\.Values\.(\w+)", "".join(path.read_text() for path in (CHART / "templates").iterdir())))
    assert used == set(yaml.safe_load((CHART / "values.yaml").read_text()))
