"""The errors of CEL, apart from its evaluator: most programs name them and few evaluate an expression."""


class CelError(Exception):
    """An expression cannot be evaluated; the message is cel-go's."""


class CelSyntaxError(CelError):
    """The text is not an expression; the message has the place, as cel-go prints it."""
