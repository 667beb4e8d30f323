"""What CEL's logical operators and macros do: the parts of an evaluation in which an error need not be the end."""

from collections.abc import Callable, Iterable, Mapping

from seatrial.model.cel.values import NO_OVERLOAD, CelError

COST_EXCEEDED = "operation cancelled: actual cost limit exceeded"


class Scope:
    """The variables an expression sees, and what it may still spend."""

    __slots__ = ("budget", "variables")

    def __init__(self, variables: dict[str, object], budget: list[int]) -> None:
        self.variables = variables
        self.budget = budget

    def inner(self) -> "Scope":
        """A copy for the body of a macro; the budget is shared."""
        return Scope(dict(self.variables), self.budget)

    def spend(self, cost: int) -> None:
        self.budget[0] -= cost
        if self.budget[0] < 0:
            raise CostExceeded(COST_EXCEEDED)


class CostExceeded(CelError):
    """Unlike other errors it is never absorbed by a logical operator."""


Code = Callable[[Scope], object]


def truth(value: object) -> bool:
    if value is True or value is False:
        return value
    raise CelError(NO_OVERLOAD)


def logical_code(left: Code, right: Code, decisive: bool) -> Code:
    """`&&` and `||`: the decisive value wins over an error on either side."""

    def logical(scope: Scope) -> object:
        error: CelError | None = None
        for side in (left, right):
            try:
                if truth(side(scope)) is decisive:
                    return decisive
            except CostExceeded:
                raise
            except CelError as problem:
                error = error or problem
        if error is not None:
            raise error
        return not decisive

    return logical


def conditional_code(condition: Code, then: Code, otherwise: Code) -> Code:
    def conditional(scope: Scope) -> object:
        return then(scope) if truth(condition(scope)) else otherwise(scope)

    return conditional


class Iteration:
    """The loop of a macro: runs over a list or map and sets the variables."""

    def __init__(self, range_code: Code, variables: tuple[str, ...]) -> None:
        self.range_code = range_code
        self.variables = variables

    def __call__(self, scope: Scope) -> Iterable[Scope]:
        values = self.range_code(scope)
        inner = scope.inner()
        names = self.variables
        for key, value in self.pairs(values):
            scope.spend(1)
            if len(names) == 2:
                inner.variables[names[0]], inner.variables[names[1]] = key, value
            else:
                inner.variables[names[0]] = key if isinstance(values, Mapping) else value
            yield inner

    @staticmethod
    def pairs(values: object) -> Iterable[tuple[object, object]]:
        if isinstance(values, Mapping):
            return sorted(values.items(), key=lambda pair: str(pair[0]))
        if isinstance(values, list):
            return enumerate(values)
        raise CelError(NO_OVERLOAD)


def _quantifier(decisive: bool) -> Callable[[Iteration, list[Code]], Code]:
    """`all` (false decides) and `exists` (true decides)."""

    def loop(iteration: Iteration, bodies: list[Code]) -> Code:
        def quantified(scope: Scope) -> object:
            error: CelError | None = None
            for inner in iteration(scope):
                try:
                    if truth(bodies[0](inner)) is decisive:
                        return decisive
                except CostExceeded:
                    raise
                except CelError as problem:
                    error = error or problem
            if error is not None:
                raise error
            return not decisive

        return quantified

    return loop


def _exists_one(iteration: Iteration, bodies: list[Code]) -> Code:
    return lambda scope: sum(1 for inner in iteration(scope) if truth(bodies[0](inner))) == 1


def _filter(iteration: Iteration, bodies: list[Code]) -> Code:
    name = iteration.variables[0]
    return lambda scope: [inner.variables[name] for inner in iteration(scope) if truth(bodies[0](inner))]


def _map(iteration: Iteration, bodies: list[Code]) -> Code:
    *conditions, body = bodies
    return lambda scope: [
        body(inner) for inner in iteration(scope) if all(truth(condition(inner)) for condition in conditions)
    ]


def _transform_map(iteration: Iteration, bodies: list[Code]) -> Code:
    *conditions, body = bodies
    key = iteration.variables[0]
    return lambda scope: {
        inner.variables[key]: body(inner)
        for inner in iteration(scope)
        if all(truth(condition(inner)) for condition in conditions)
    }


def _transform_entries(iteration: Iteration, bodies: list[Code]) -> Code:
    *conditions, body = bodies

    def transformed(scope: Scope) -> object:
        made: dict[object, object] = {}
        for inner in iteration(scope):
            if all(truth(condition(inner)) for condition in conditions):
                entry = body(inner)
                if not isinstance(entry, Mapping):
                    raise CelError(NO_OVERLOAD)
                made.update(entry)
        return made

    return transformed


LOOPS: dict[str, Callable[[Iteration, list[Code]], Code]] = {
    "all": _quantifier(decisive=False),
    "exists": _quantifier(decisive=True),
    "exists_one": _exists_one,
    "existsOne": _exists_one,
    "filter": _filter,
    "map": _map,
    "transformList": _map,
    "transformMap": _transform_map,
    "transformMapEntry": _transform_entries,
}
