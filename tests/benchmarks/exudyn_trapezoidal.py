"""exudyn's implicit trapezoidal rule on the three systems, with its generic velocity constraint.

Run by an interpreter that has exudyn. Reads lines "system steps" and answers each with a JSON
object: CPU seconds per step, and what shows that the motion is right. Everything optional is off:
exudyn's module without range checks, no files, no sensors; unlike the others it keeps only the
last state. What a system adds to its constant matrices has to be a Python function: exudyn's
compiled user functions (exudyn.symbolic) cover neither constraints nor mass matrices.
"""

import json
import sys
import time
from math import cos, sin

sys.exudynFast = True  # read by exudyn while it is imported

import exudyn as exu  # noqa: E402
import exudyn.itemInterface as item  # noqa: E402
import numpy as np  # noqa: E402
from cases import CASES  # noqa: E402


def particle():
    def forms(mbs, t, i, q, v, velocity_level):
        return [[-q[1], 0.0, 1.0]]

    def constraint(mbs, t, i, q, v, velocity_level):
        return [v[2] - q[1] * v[0]]

    return constraint, forms, dict(massMatrix=np.eye(3), stiffnessMatrix=np.diag([2.0, 2, 0]))


def sleigh(m, I, a):
    ma, turn = m * a, I + m * a * a

    def forms(mbs, t, i, q, v, velocity_level):
        return [[sin(q[2]), -cos(q[2]), 0.0]]

    def constraint(mbs, t, i, q, v, velocity_level):
        return [v[0] * sin(q[2]) - v[1] * cos(q[2])]

    def mass(mbs, t, i, q, v):
        s, c = ma * sin(q[2]), ma * cos(q[2])
        return [[m, 0.0, -s], [0.0, m, c], [-s, c, turn]]

    def force(mbs, t, i, q, v):
        f = ma * v[2] * v[2]
        return [f * cos(q[2]), f * sin(q[2]), 0.0]

    body = dict(massMatrixUserFunction=mass, forceUserFunction=force)
    return constraint, forms, body | dict(massMatrix=np.eye(3))  # demanded, but not used


def snakeboard(m, J, J0, J1, r):
    def forms(mbs, t, i, q, v, velocity_level):
        left, right, c = q[2] + q[4], q[2] - q[4], r * cos(q[4])
        return [[sin(left), -cos(left), c, 0.0, 0.0], [sin(right), -cos(right), -c, 0.0, 0.0]]

    def constraint(mbs, t, i, q, v, velocity_level):
        left, right, c = q[2] + q[4], q[2] - q[4], r * cos(q[4]) * v[2]
        return [
            v[0] * sin(left) - v[1] * cos(left) + c,
            v[0] * sin(right) - v[1] * cos(right) - c,
        ]

    return constraint, forms, dict(massMatrix=np.diag([m, m, J + 2 * J1, J0, 2 * J1]))


SYSTEMS = dict(particle=particle, sleigh=sleigh, snakeboard=snakeboard)


def run(name, steps, full_newton):
    """Return seconds, q and v of a run; nothing but the last state is kept."""
    case = CASES[name]
    n, rows = case.kind.n, case.kind.m
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    constraint, forms, body = SYSTEMS[name](**case.parameters)
    node = mbs.AddNode(
        item.NodeGenericODE2(
            numberOfODE2Coordinates=n,
            referenceCoordinates=[0.0] * n,
            initialCoordinates=list(case.q0),
            initialCoordinates_t=list(case.v0),
        )
    )
    mbs.AddObject(item.ObjectGenericODE2(nodeNumbers=[node], **body))
    ground = mbs.AddNode(item.NodePointGround())
    markers = [mbs.AddMarker(item.MarkerNodeCoordinates(nodeNumber=k)) for k in (ground, node)]
    mbs.AddObject(
        item.ObjectConnectorCoordinateVector(
            markerNumbers=markers,
            scalingMarker0=np.zeros((rows, n)),
            velocityLevel=True,
            constraintUserFunction=constraint,
            jacobianUserFunction=forms,
        )
    )
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write = settings.solution.sensors.active = False
    settings.solution.solverInformationFileName = ""
    settings.show.globalTimers = False
    scheme = settings.timeIntegration
    scheme.numberOfSteps, scheme.endTime = steps, steps * case.h
    scheme.adaptiveStep = False
    scheme.newton.useModifiedNewton = not full_newton
    scheme.newton.modifiedNewtonJacUpdatePerStep = True
    before = time.process_time()
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
    seconds = time.process_time() - before
    return seconds, mbs.systemData.GetODE2Coordinates(), mbs.systemData.GetODE2Coordinates_t()


def measure(name, steps):
    """Time the two ways exudyn can use its Jacobian and report the faster."""
    seconds, q, v = min((run(name, steps, full) for full in (False, True)), key=lambda r: r[0])
    system, case = CASES[name].system, CASES[name]
    E, E0 = system.lagrangian(q, v)[-1], system.lagrangian(case.q0, case.v0)[-1]
    return dict(
        seconds_per_step=seconds / steps,
        constraint=float(np.abs(system.forms(q, v)[0] @ v).max()),
        energy=float(E / E0 - 1),
        q=q.tolist(),
    )


if __name__ == "__main__":
    print(json.dumps({"version": exu.__version__}), flush=True)
    for line in sys.stdin:
        name, steps = line.split()
        print(json.dumps(measure(name, int(steps))), flush=True)
