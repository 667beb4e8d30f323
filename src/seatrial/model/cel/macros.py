"""CEL's logical operators and macros: the parts of an evaluation in which an error need not be final."""

from collections.abc import Callable, Iterable, Mapping

from seatrial.model.cel.costs import LIST_CREATE, SELECT_AND_IDENT, CostExceeded, Meter
from seatrial.model.cel.errors import CelError
from seatrial.model.cel.values import NO_OVERLOAD


class Scope:
    """The variables an expression sees, and the meter of what it spends."""

    __slots__ = ("meter", "variables")

    def __init__(self, variables: dict[str, object], meter: Meter) -> None:
        self.variables = variables
        self.meter = meter

    def inner(self) -> "Scope":
        """A copy for the body of a macro; the meter is shared."""
        return Scope(dict(self.variables), self.meter)

    def spend(self, cost: int) -> None:
        self.meter.spend(cost)


Code = Callable[[Scope], object]


def truth(value: object) -> bool:
    if value is True or value is False:
        return value
    raise CelError(NO_OVERLOAD)


def logical_code(sides: tuple[Code, ...], decisive: bool) -> Code:
    """`&&` and `||`: the decisive value wins over an error of any term."""

    def logical(scope: Scope) -> object:
        error: CelError | None = None
        for side in sides:
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
    """The loop of a macro: runs over a list or map and sets the variables.

    cel-go expands a macro into a loop with an accumulator; the cost of that loop without its body is charged here.
    """

    def __init__(self, range_code: Code, variables: tuple[str, ...]) -> None:
        self.range_code = range_code
        self.variables = variables

    def __call__(self, scope: Scope, cost: int, start: int = 0) -> Iterable[Scope]:
        """The scopes of the body; each costs `cost`, and the whole loop `start` and the read of its result."""
        values = self.range_code(scope)
        scope.spend(start + SELECT_AND_IDENT)
        inner = scope.inner()
        names = self.variables
        for key, value in self.pairs(values):
            scope.spend(cost)
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
    """`all` (false decides) and `exists` (true decides, and its condition negates the accumulator)."""
    test = 3 if decisive else 2

    def loop(iteration: Iteration, bodies: list[Code]) -> Code:
        def quantified(scope: Scope) -> object:
            error: CelError | None = None
            scopes = iter(iteration(scope, test))
            for inner in scopes:
                scope.spend(SELECT_AND_IDENT)
                try:
                    if truth(bodies[0](inner)) is decisive:
                        # cel-go tests the accumulator once more before it leaves a loop that could go on.
                        next(scopes, None)
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
    def counted(scope: Scope) -> object:
        found = 0
        for inner in iteration(scope, 0, 1):
            if truth(bodies[0](inner)):
                scope.spend(SELECT_AND_IDENT + 1)
                found += 1
        return found == 1

    return counted


_APPENDED = SELECT_AND_IDENT + LIST_CREATE + 1
_INSERTED = 2 * SELECT_AND_IDENT + 1


def _selected(iteration: Iteration, conditions: list[Code], scope: Scope, added: int) -> Iterable[Scope]:
    """The scopes that meet all conditions; each of them pays for being added to the result."""
    for inner in iteration(scope, 0):
        if all(truth(condition(inner)) for condition in conditions):
            scope.spend(added)
            yield inner


def _filter(iteration: Iteration, bodies: list[Code]) -> Code:
    name = iteration.variables[0]
    added = _APPENDED + SELECT_AND_IDENT
    return lambda scope: [inner.variables[name] for inner in _selected(iteration, bodies, scope, added)]


def _map(iteration: Iteration, bodies: list[Code]) -> Code:
    *conditions, body = bodies
    return lambda scope: [body(inner) for inner in _selected(iteration, conditions, scope, _APPENDED)]


def _transform_map(iteration: Iteration, bodies: list[Code]) -> Code:
    *conditions, body = bodies
    key = iteration.variables[0]
    return lambda scope: {
        inner.variables[key]: body(inner) for inner in _selected(iteration, conditions, scope, _INSERTED)
    }


def _transform_entries(iteration: Iteration, bodies: list[Code]) -> Code:
    *conditions, body = bodies

    def transformed(scope: Scope) -> object:
        made: dict[object, object] = {}
        for inner in _selected(iteration, conditions, scope, 2):
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
