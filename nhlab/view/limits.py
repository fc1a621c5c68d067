"""The rule of limits: they stay while all curves are inside and fill a third of the height, and
go to the next round ones as soon as this ends.

In words of Python that can be translated: a page follows the same functions.
"""

import numpy as np

ROOM = {"x": 0.0, "y": 0.02, "scale": 0.05}  # beside the curves; on all sides of what is to scale
LEAST = 1e-10  # limits of residuals do not come closer to 0: what is below is rounding
FILLED = 1 / 3  # of the height: with less, limits come closer ..
DRAGGED = 1 / 6  # .. and while a slider is dragged with less than this
AHEAD = 24  # moves like the last one for which limits leave room while a slider is dragged
EXPLODES, HUGE = 30, 20  # see calm_points


def filled_share(limits, known, low, high, resting):
    """The share of limits that curves from ``low`` to ``high`` fill, 0 if one is outside.

    ``known`` are the ends of the last drawing.  Curves that move as a whole while a slider is
    dragged, as energies do with the start, count as what they cover in AHEAD such moves: limits
    that were closer would have to follow every step.
    """
    left, right = limits
    slack = 1e-3 * (right - left)
    if low < left - slack or high > right + slack:
        return 0.0
    height = high - low
    if height <= 1e-13 * max(abs(low), abs(high)):
        height = 0.2 * max(abs(high), 1e-11)  # a constant, as round_limits sees it
    down, up = known[0] - low, high - known[1]
    moved = min(abs(down), abs(up)) if down * up < 0 and not resting else 0.0
    return (height + AHEAD * moved) / (right - left)


def limits_ahead(known, low, high, room, resting):
    """Round limits that hold [low, high], and while a slider is dragged what will be reached with
    AHEAD moves like the last one; a curve that grows still fills more than DRAGGED of them."""
    if resting:
        return round_limits(low, high, room)
    down, up = known[0] - low, high - known[1]
    moved = min(abs(down), abs(up)) if down * up < 0 else 0.0
    below, above = AHEAD * max(down, 0.0), AHEAD * max(up, 0.0)
    most = 4 * (high - low) + AHEAD * moved
    part = min(1.0, most / max(below + above, 1e-300))
    return round_limits(low - part * below, high + part * above, room)


def least_filled(resting):
    """The share that curves must fill for limits to stay: less while a slider is dragged."""
    return FILLED if resting else DRAGGED


def is_loose(limits, low, high):
    """Are limits wider than they would be if the hand rested?"""
    return filled_share(limits, [low, high], low, high, True) < FILLED


def next_limits(limits, known, low, high, room, exact, resting, widens):
    """Limits of one side for curves from ``low`` to ``high``.

    limits, known : those of the last drawing and the ends of its curves, None before the first
    exact : are they the ends themselves whenever the hand rests, as of an axis of time?
    widens : do limits only widen, as for curves that are cut short?
    """
    if known is None or (exact and resting):
        return [low, high] if exact else round_limits(low, high, room)
    share = filled_share(limits, known, low, high, resting)
    if share >= least_filled(resting) or (widens and share > 0):
        return limits
    return limits_ahead(known, low, high, room, resting)


def to_scale(sides, shape):
    """The limits [left, right], [low, high] widened about their middles to the same scale in both
    directions, in a room of this width and height."""
    unit = max((sides[k][1] - sides[k][0]) / shape[k] for k in range(2))
    middles = [(sides[k][0] + sides[k][1]) / 2 for k in range(2)]
    halves = [unit * shape[k] / 2 for k in range(2)]
    return [[middles[k] - halves[k], middles[k] + halves[k]] for k in range(2)]


def next_limits_to_scale(limits, known, reach, shape, resting, widens):
    """Likewise for both directions at once, which keep equal scales: pairs of what ``next_limits``
    takes, and the width and height of the room.

    They stay as long as nothing is outside and one of the directions is filled.
    """
    wanted = reach
    if known is not None:
        ends = [[limits[k], known[k], reach[k][0], reach[k][1]] for k in range(2)]
        shares = [filled_share(a, b, low, high, resting) for a, b, low, high in ends]
        if min(shares) > 0 and (widens or max(shares) >= least_filled(resting)):
            return limits
        wanted = [limits_ahead(b, low, high, 0.0, resting) for _, b, low, high in ends]
    return [round_limits(x[0], x[1], ROOM["scale"]) for x in to_scale(wanted, shape)]


def calm_points(y):
    """How many points of a curve a picture can hold: all, or those before it explodes.

    It does if of its first half, quarter, eighth .. each is EXPLODES times as high as the next, and
    the whole more than HUGE times as high as the last of them: it would flatten all others.  Then
    it is held until it has moved by ten times its first value or, if that is nothing, by what it
    does at the beginning.  A curve that comes back, as an energy after a turn, is shown whole.
    """
    count, first = len(y), abs(y[0]) if len(y) else 0.0
    while count > 16 and np.ptp(y[:count]) > min(EXPLODES * np.ptp(y[: count // 2]), 1e300):
        count = count // 2
    calm = np.ptp(y[:count]) if count < len(y) else 0.0
    if count == len(y) or np.ptp(y) <= HUGE * (calm + first):
        return len(y)
    low = np.ptp(y) / EXPLODES
    if abs(y[len(y) - 1] - y[0]) < low and np.ptp(y[15 * len(y) // 16 :]) < low:
        return len(y)
    most, count = 10 * first if 100 * first > np.ptp(y[:4]) else calm, 1
    while abs(y[count] - y[0]) <= most:
        count += 1
    return count


def who_leaves(name, axis, at, most):
    """The sentence about a curve of which only the beginning is in the picture."""
    return f"{name} leaves the picture after {axis} = {at:.3g}: it reaches {most:.1e}."


def round_limits(low, high, room):
    """Multiples of a round unit that leave ``room`` around [low, high], and not much more."""
    width = high - low
    if width <= 1e-13 * max(abs(low), abs(high)):
        width = max(abs(high) * 0.1, 1e-12)
        low, high = low - width, high + width
    unit = 10.0 ** np.floor(np.log10(width / 20))
    unit *= next(x for x in (1, 2, 5, 10) if x * unit >= width / 50)
    low, high = low - room * width, high + room * width
    return [unit * np.floor(low / unit + 1e-6), unit * np.ceil(high / unit - 1e-6)]
