"""Work whose size a user decides: none of it holds up others, and what takes too long is ended with a reason."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from seatrial.control_plane.admission_plugins import add_configured_admission
from seatrial.model.cel import Allowance, TooMuchWork, compile_expression, within
from seatrial.model.regular_expressions import RegexError, regex
from seatrial.server.worker_processes import WorkerProcesses
from tests.server.client import Reply, Server
from tests.store.stock import definition, widget

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
MUTATING_BINDINGS = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
MAPS = "/api/v1/namespaces/default/configmaps"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
MATCHED = {
    "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
}
COSTLY = "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, %s)))"
COSTLY = COSTLY % "[0,1,2,3,4,5,6,7,8,9].all(d, a + b + c + d >= 0)"
LONGEST_STALL = 0.25


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    add_configured_admission(server.store, frozenset())
    yield server
    server.application.pools.close()


def stall(server: Server, method: str, path: str, body: Any, **headers: str) -> tuple[Reply, float]:
    """The answer to a request, and the longest time for which the loop did nothing else meanwhile."""

    async def scene() -> tuple[Reply, float]:
        asked = asyncio.ensure_future(server.send(method, path, body, **headers))
        longest, last = 0.0, time.thread_time()
        while not asked.done():
            await asyncio.sleep(0.001)
            now = time.thread_time()
            longest, last = max(longest, now - last), now
        return await asked, longest

    return asyncio.run(scene())


def bind_policies(server: Server, number: int, expression: str) -> None:
    for each in range(number):
        spec = {"matchConstraints": MATCHED, "validations": [{"expression": expression}]}
        assert server("POST", POLICIES, {"metadata": {"name": f"p{each}"}, "spec": spec}).status == 201
        spec = {"policyName": f"p{each}", "validationActions": ["Deny"]}
        assert server("POST", BINDINGS, {"metadata": {"name": f"p{each}"}, "spec": spec}).status == 201


def test_costly_policies_do_not_hold_up_the_loop(server: Server) -> None:
    bind_policies(server, 6, COSTLY)
    answer, longest = stall(server, "POST", MAPS, {"metadata": {"name": "a"}})
    assert answer.status == 201
    assert longest < LONGEST_STALL


def test_a_costly_policy_refuses_as_a_cheap_one_does(server: Server) -> None:
    bind_policies(server, 1, f"{COSTLY} && object.metadata.name != 'bad'")
    assert server("POST", MAPS, {"metadata": {"name": "good"}}).status == 201
    answer = server("POST", MAPS, {"metadata": {"name": "bad"}})
    assert answer.status == 422
    assert "ValidatingAdmissionPolicy 'p0' with binding 'p0' denied request" in answer.json()["message"]


def test_a_policy_that_exceeds_upstreams_cost_limit_is_an_error_of_the_policy(server: Server) -> None:
    ten = "[0,1,2,3,4,5,6,7,8,9]"
    bind_policies(server, 1, f"{ten}.all(x, {ten}.all(y, {COSTLY}))")
    answer, longest = stall(server, "POST", MAPS, {"metadata": {"name": "a"}})
    assert answer.status == 422
    assert "actual cost limit exceeded" in answer.json()["message"]
    assert longest < LONGEST_STALL


def test_a_costly_mutation_does_not_hold_up_the_loop(server: Server) -> None:
    expression = f"Object{{metadata: Object.metadata{{labels: Object.metadata.labels{{a: {COSTLY} ? 'b' : 'c'}}}}}}"
    mutations = [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]
    spec = {"matchConstraints": MATCHED, "reinvocationPolicy": "Never", "mutations": mutations}
    assert server("POST", MUTATING, {"metadata": {"name": "p"}, "spec": spec}).status == 201
    assert server("POST", MUTATING_BINDINGS, {"metadata": {"name": "p"}, "spec": {"policyName": "p"}}).status == 201
    answer, longest = stall(server, "POST", MAPS, {"metadata": {"name": "a"}})
    assert (answer.status, answer.json()["metadata"]["labels"]) == (201, {"a": "b"})
    assert longest < LONGEST_STALL


@pytest.mark.parametrize("pattern", [r"\pL{300}", "(a|b)" * 2_000, "[ab]*a" * 700])
def test_a_costly_pattern_of_a_definition_does_not_hold_up_the_loop(server: Server, pattern: str) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string", "pattern": pattern}}}
    answer, longest = stall(server, "POST", DEFINITIONS, definition(schema))
    assert answer.status == 201
    assert longest < LONGEST_STALL
    answer, longest = stall(server, "POST", WIDGETS, widget("a", text="a" * 15_000 + "!"))
    assert answer.status in (201, 422)
    assert longest < LONGEST_STALL


def test_a_pattern_of_305_kilobytes_is_refused_with_gos_message(server: Server) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string", "pattern": "(a|b)" * 61_000}}}
    start = time.monotonic()
    answer = server("POST", DEFINITIONS, definition(schema))
    assert answer.status == 422
    assert "error parsing regexp: expression too large" in answer.json()["message"]
    assert time.monotonic() - start < 60, "it took minutes"


def test_a_long_pattern_with_groups_compiles_at_once() -> None:
    """Each group once made compiling and matching slower: minutes for 305 KB."""
    start = time.thread_time()
    assert regex("(a|b)" * 12_000).matches("a" * 12_000)
    assert time.thread_time() - start < 2
    with pytest.raises(RegexError, match="expression too large"):
        regex("a" * 70_000)


def test_an_expression_has_at_most_as_many_characters_as_cel_go_reads() -> None:
    with pytest.raises(Exception, match="expression code point size exceeds limit: size: 100003, limit 100000"):
        compile_expression(f"'{'a' * 100_001}'", frozenset())


def test_work_is_charged_inside_an_allowance_only() -> None:
    program = compile_expression(COSTLY, frozenset())
    assert program.evaluate({}) is True
    with within(Allowance(1_000)), pytest.raises(TooMuchWork):
        program.evaluate({})
    cheap = compile_expression("1 + 1 == 2", frozenset())
    with within(Allowance(0)):
        assert [cheap.evaluate({}) for _ in range(1_000)] == [True] * 1_000


def endless() -> None:
    """A job that no Python code can interrupt is like this one, but for its processor time."""
    time.sleep(600)


def test_a_job_that_takes_too_long_is_ended_with_its_process() -> None:
    workers = WorkerProcesses(seconds=0.1)
    start = time.monotonic()
    error = asyncio.run(workers.run(endless))
    assert (error.code, time.monotonic() - start < 120) == (504, True)
    assert "took longer than 0.1 s" in error.message
    assert asyncio.run(workers.run(process_id)) > 0
    workers.close()


def process_id() -> int:
    import os

    return os.getpid()
