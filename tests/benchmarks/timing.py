"""Measuring in turns, so that ratios mean something on a busy machine."""

import time
from statistics import median


def cpu(f, *arguments):
    """Return the CPU seconds of one call and its result."""
    before = time.process_time()
    result = f(*arguments)
    return time.process_time() - before, result


def turns(contestants, repeats):
    """Let every contestant measure itself in each of the turns; {name: [seconds, ...]}."""
    times = {name: [] for name in contestants}
    for turn in range(repeats):
        for name in list(times)[:: (-1) ** turn]:  # nobody always comes first
            times[name].append(contestants[name]())
    return times


def ratio(times, above, below):
    return median(a / b for a, b in zip(times[above], times[below], strict=True))
