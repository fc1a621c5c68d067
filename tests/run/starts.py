"""Systems, methods and runs that the tests of this room share."""

import functools

import pytest

import nhlab as nh

DISCRETE = [nh.DLA(alpha=0.4), nh.DLA(constraint_alpha=0.2), nh.Projector(), nh.EDLA(),
            nh.DLA(alpha=0.3, symmetric=True)]  # fmt: skip
METHODS = [*DISCRETE, nh.RK4(), nh.Reference()]
PARTICLE, DRIVEN, BALL = (
    nh.systems.particle(), nh.systems.driven(), nh.systems.spherical_pendulum()
)  # fmt: skip


def run(system=PARTICLE, method=None, h=0.1, steps=24, t0=0.0, **options):
    """A run from the system's own start, whose velocity fits the constraints at t0."""
    if "q0" not in options and system.constraints:
        options |= {"q0": system.q0, "v0": system.project(system.q0, system.v0, t0)}
    return nh.integrate(system, method or nh.DLA(), h=h, steps=steps, t0=t0, **options)


@functools.cache
def stopped_sleigh(every=1):
    """EDLA has no step for the sleigh beyond t = 7.9."""
    with pytest.raises(nh.IntegrationError) as stopped:
        run(nh.systems.sleigh(), nh.EDLA(), h=0.1, steps=600, every=every)
    return stopped.value
