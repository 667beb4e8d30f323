"""The natural logarithm as Go computes it, digit for digit: a score must be equal, not close.

Method: FreeBSD's e_log.c, which Go's math.Log follows on every platform.
"""

import math

_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_ODD = (6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)
_EVEN = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)


def natural_log(number: int) -> float:
    """ln(number) for a positive whole number."""
    fraction, exponent = math.frexp(float(number))
    if fraction < math.sqrt(2) / 2:
        fraction *= 2
        exponent -= 1
    f = fraction - 1
    k = float(exponent)
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    odd = s2 * (_ODD[0] + s4 * (_ODD[1] + s4 * (_ODD[2] + s4 * _ODD[3])))
    even = s4 * (_EVEN[0] + s4 * (_EVEN[1] + s4 * _EVEN[2]))
    rest = odd + even
    half_square = 0.5 * f * f
    return k * _LN2_HIGH - ((half_square - (s * (half_square + rest) + k * _LN2_LOW)) - f)
