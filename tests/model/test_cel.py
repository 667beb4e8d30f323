"""CEL: syntax, values, macros and errors, and what cel-go answers for device selectors."""

from typing import Any

import pytest

from seatrial.model.cel.costs import Meter
from seatrial.model.cel.evaluator import CelError, CelSyntaxError, compile_expression
from seatrial.model.cel.kubernetes import CelQuantity, parse_semver
from seatrial.model.cel.values import DefaultMap, UInt
from seatrial.model.quantity import Quantity
from tests.model.recorded import recorded

DEVICE = {
    "driver": "gpu.example.com",
    "allowMultipleAllocations": True,
    "attributes": DefaultMap(
        {
            "gpu.example.com": {"model": "A100 x", "index": 3, "healthy": True, "ver": parse_semver("1.2.3-rc.1")},
            "other.example.com": {"numa": -1},
        }
    ),
    "capacity": DefaultMap(
        {
            "gpu.example.com": {
                "memory": CelQuantity(Quantity.parse("40Gi")),
                "cores": CelQuantity(Quantity.parse("2500m")),
            }
        }
    ),
}


def evaluate(expression: str, **variables: Any) -> object:
    return compile_expression(expression, frozenset(variables)).evaluate(variables)


@pytest.mark.parametrize("row", recorded("values/cel_devices"), ids=lambda row: row["expr"])
def test_device_selectors_evaluate_as_in_cel_go(row: dict[str, Any]) -> None:
    try:
        answer = evaluate(row["expr"], device=DEVICE)
        outcome = {"value": answer} if isinstance(answer, bool) else {"error": "not a bool"}
    except CelError as error:
        outcome = {"error": str(error)}
    if "could not be converted to bool" in row.get("error", ""):
        assert outcome == {"error": "not a bool"}
    else:
        assert {"expr": row["expr"], **outcome} == row


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3 - 4 / 2 % 3", 5),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("true ? 1 : 2", 1),
        ("'a' + \"b\" + r'\\n'", "ab\\n"),
        ("'\\x41\\u00e9\\101'", "AéA"),
        ("b'\\xff'", b"\xff"),
        ("[1, 2, 3].map(x, x > 1, x * x)", [4, 9]),
        ("{'a': 1, 'b': 2}.exists_one(k, k == 'b')", True),
        ("[1, 2].all(x, x / (x - 1) > 0 || true)", True),
        ("{'a': {'b': 1}}.?a.?c.orValue(7)", 7),
        ("cel.bind(x, 4, x * x)", 16),
        ("'%s is %d, %.2f'.format(['a', 2, 1.5])", "a is 2, 1.50"),
        ("string(duration('90m'))", "5400s"),
        ("string(timestamp('2026-01-02T03:04:05.5+01:00'))", "2026-01-02T02:04:05.5Z"),
        ("timestamp('2026-01-02T03:04:05Z').getHours('Europe/Berlin')", 4),
        ("type([]) == list", True),
        ("has({'a': null}.a)", True),
        ("quantity('1Gi').add(quantity('512Mi')).compareTo(quantity('1536Mi'))", 0),
        ("5u + 6u", UInt(11)),
    ],
)
def test_expressions_have_their_value(expression: str, value: object) -> None:
    answer = evaluate(expression)
    assert answer == value
    assert type(answer) is type(value)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("[1, 2][2]", "index out of bounds: 2"),
        ("9223372036854775807 * 2", "integer overflow"),
        ("{'a': 1}.b", "no such key: b"),
        ("1 < 'a'", "no such overload"),
        ("[1, 2].exists_one(x, x / 0 > 0)", "division by zero"),
        ("[0, 1].all(x, 1 / x > 0)", "division by zero"),
    ],
)
def test_errors_say_what_cel_go_says(expression: str, message: str) -> None:
    with pytest.raises(CelError) as caught:
        evaluate(expression)
    assert str(caught.value) == message


def test_an_unknown_name_is_refused_with_its_place() -> None:
    with pytest.raises(CelSyntaxError) as caught:
        evaluate("1 +\n nope")
    assert str(caught.value) == (
        "ERROR: <input>:2:2: undeclared reference to 'nope' (in container '')\n |  nope\n | .^"
    )


@pytest.mark.parametrize("expression", ["", "1 +", "(1", "[1,,2]", "'a", "a b", "for", "x ? 1", "@", "1.a(", "9" * 40])
def test_broken_text_is_a_syntax_error(expression: str) -> None:
    with pytest.raises(CelSyntaxError):
        evaluate(expression, a=1, x=True)


def test_deep_nesting_is_refused_not_crashed_on() -> None:
    with pytest.raises(CelError):
        evaluate("(" * 5000 + "1" + ")" * 5000)


def test_a_long_loop_runs_into_the_cost_limit() -> None:
    program = compile_expression("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))", frozenset())
    with pytest.raises(CelError, match="operation cancelled: actual cost limit exceeded"):
        program.evaluate({}, Meter(100_000))
