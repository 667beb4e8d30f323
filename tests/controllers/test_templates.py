"""Templates of Stages are rendered as Go renders them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.controllers.stages.functions import functions_at, node_ip, pod_ip
from seatrial.controllers.stages.templates import Template
from seatrial.model import yaml_reader as yamls
from seatrial.model.errors import ConfigError

POD: dict[str, Any] = {
    "metadata": {"name": "a", "annotations": {"k": "v"}},
    "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}], "n": 3},
}


def render(text: str, document: dict[str, Any] = POD) -> str:
    return Template(text).render(document, functions_at(1_893_456_000_000_000, 0, document))


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ .metadata.name }}", "a"),
        ("{{ .metadata.missing }}", "<no value>"),
        ("x {{- .metadata.name -}} y", "xay"),
        ("{{/* nothing */}}z", "z"),
        ("{{ if .spec.n }}yes{{ else }}no{{ end }}", "yes"),
        ("{{ if .x }}1{{ else if .spec }}2{{ else }}3{{ end }}", "2"),
        ("{{ with .x }}{{ . }}{{ else }}none{{ end }}", "none"),
        ("{{ with .metadata.name }}<{{ . }}>{{ end }}", "<a>"),
        ("{{ range .spec.containers }}{{ .name }};{{ end }}", "c;d;"),
        ("{{ range $i, $c := .spec.containers }}{{ $i }}{{ $c.image }}{{ end }}", "0i1j"),
        ("{{ range .none }}x{{ else }}empty{{ end }}", "empty"),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}", "2"),
        ("{{ $root := . }}{{ range .spec.containers }}{{ $root.metadata.name }}{{ end }}", "aa"),
        ("{{ .metadata.name | Quote }}", '"a"'),
        ("{{ .spec.n | Quote }}", '"3"'),
        ("{{ or .x .metadata.name }}", "a"),
        ("{{ and .metadata.name .x }}", "<no value>"),
        ('{{ index .metadata.annotations "k" }}', "v"),
        ('{{ (index .spec.containers 1).name }}', "d"),
        ('{{ printf "%s-%d" .metadata.name 7 }}', "a-7"),
        ('{{ eq .metadata.name "b" "a" }}', "true"),
        ("{{ not .x }}", "true"),
        ('{{ default "f" .x }}', "f"),
        ("{{ len .spec.containers }}", "2"),
        ('{{ join "," (list 1 2) }}', "1,2"),
        ("{{ add 1 2 3 }}", "6"),
        ('{{ "a b" | replace " " "-" | upper }}', "A-B"),
        ("{{ Now }}", "2030-01-01T00:00:00.000000Z"),
        ("{{ $a := or .metadata.none dict }}{{ or ( index $a \"q\" ) \"w\" }}", "w"),
        ("{{ `raw` }}", "raw"),
    ],
)  # fmt: skip
def test_an_action_gives_its_text(template: str, text: str) -> None:
    assert render(template) == text


@pytest.mark.parametrize("template", ["{{ if }}", "{{ range .a }}", "{{ end", "{{ ( .a }}", "{{ .a .b | }}", "{{ ^ }}"])
def test_what_is_no_template_is_refused(template: str) -> None:
    if template == "{{ end":
        assert render(template) == template
        return
    with pytest.raises(ConfigError):
        render(template)


def test_unknown_functions_are_named() -> None:
    with pytest.raises(ConfigError, match="frobnicate"):
        render("{{ frobnicate 1 }}")


def test_a_template_knows_what_it_reads() -> None:
    read = Template("{{ .spec.containers }}{{ range .spec.gates }}{{ .name }}{{ end }}{{ $.metadata.name }}").reads
    assert read == frozenset((("spec", "containers"), ("spec", "gates"), ("metadata", "name")))
    assert Template("{{ $root := . }}").reads is None


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=["Cc"]), max_size=20))
def test_a_quoted_text_is_read_back_from_yaml(text: str) -> None:
    rendered = render("value: {{ .text | Quote }}", {"metadata": {}, "text": text})
    assert yamls.load_all(rendered) == [{"value": text}]


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(-(2**31), 2**31) | st.text("xyz ")))
def test_yaml_of_an_object_is_read_back_at_any_depth(value: dict[str, Any]) -> None:
    rendered = render("a:\n  b:{{ YAML .v 2 }}\n", {"metadata": {}, "v": value})
    assert yamls.load_all(rendered) == [{"a": {"b": value}}]


def test_addresses_depend_on_names_alone() -> None:
    assert (
        pod_ip("n", False, "u1", "p", "d") == pod_ip("m", False, "u2", "p", "d") != pod_ip("n", False, "u1", "q", "d")
    )
    assert pod_ip("n", True, "u", "p", "d") == node_ip("n")
