"""What a reader meets first at each figure of the papers: the controls that are seen at once, and
settings to try, each with its question in a few words."""

NODES, FLOW = "all at the nodes", "energy of each step"
STEPS = "DLA by steps, else at nodes"
START = ("h", "alpha", "q0.y", "v0.vx")
WHEELS = ("h", "alpha", "v0.vpsi", "v0.vtheta")
FIRST = {
    "cm01_fig1": START,
    "cm01_fig2": START,
    "cm01_fig3": WHEELS,
    "cm01_fig4": WHEELS,
    "fim08_fig1": ("h", "v0.vtheta", "q0.theta"),
    "fim08_fig2": ("h", "alpha", "q0.y", "v0.vy"),
    "fim08_fig2_preprint": ("h", "alpha", "q0.y", "v0.vy"),
    "fim08_fig5": ("h", "alpha", "v0.vx", "v0.vtheta"),
}
TRIES = {
    "cm01_fig1": {
        "a step twice as large": {"h": 0.4},
        "a small step: who is nearer?": {"h": 0.05},
        "alpha = .3: does it still hold?": {"alpha": 0.3},
    },
    "cm01_fig2": {
        "a step twice as large": {"h": 0.4},
        "DLA at the nodes?": {"view": NODES},
        "at the nodes with alpha = .3?": {"view": NODES, "alpha": 0.3},
    },
    "cm01_fig3": {
        "half the step: who is nearer?": {"h": 0.1},
        "alpha = .3: does it still hold?": {"alpha": 0.3},
        "steer faster: a wider band?": {"v0.vtheta": 2.0},
    },
    "cm01_fig4": {
        "half the step": {"h": 0.1},
        "DLA at the nodes?": {"view": NODES},
        "steer faster: who slips?": {"v0.vtheta": 2.0},
    },
    "fim08_fig1": {
        "smaller steps: smaller kicks?": {"h": 0.2},
        "no turning: any kick left?": {"v0.vtheta": 0.0},
        "turn the other way": {"v0.vtheta": -0.9},
    },
    "fim08_fig2": {
        "a step five times as large": {"h": 0.5},
        "alpha = .3: is it still kept?": {"alpha": 0.3},
        "the energy of each step?": {"view": FLOW},
    },
    "fim08_fig2_preprint": {
        "a quarter of the step": {"h": 0.1},
        "alpha = .3: is it still kept?": {"alpha": 0.3},
        "start on the axis": {"q0.y": 0.0},
    },
    "fim08_fig3": {
        "all angles zero": {"q0.theta": 0.0, "q0.psi": 0.0, "q0.phi": 0.0},
        "axles across the board": {"q0.phi": 1.5},
    },
    "fim08_fig4": {
        "along the x-axis": {"q0.theta": 0.0},
        "mass above the blade": {"par.a": 0.0},
    },
    "fim08_fig5": {
        "half the step": {"h": 0.5},
        "alpha = 0: still similar?": {"alpha": 0.0},
        "without the left point: who wins?": {"view": "the two methods"},
    },
}
# Of figures that open on another view than the paper's.
OPENED = {
    ("cm01_fig2", NODES): {
        "half the step: half the violation?": {"h": 0.1},
        "alpha = 0: is it less?": {"alpha": 0.0},
        "the paper's reading: what is left?": {"view": STEPS},
    },
}


def of_figure(name: str, view: str | None = None) -> dict:
    """The options of a panel that say what is met first, also if it opens on another view."""
    tries = OPENED.get((name, view), TRIES.get(name, {}))
    return {"first": FIRST.get(name), "tries": tries, "view": view}
