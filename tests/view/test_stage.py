"""Scenes as data: the player and the library place the same bodies at the same places."""

import base64
import gzip
import hashlib
import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, machines, on_groups
from nhlab.view import shapes, stage, still
from nhlab.view.body import between, read_outlines
from nhlab.view.models import MODELS, model
from nhlab.view.player import KEY, player, scene_bytes
from nhlab.view.stage import Frame, Model, Track, columns_of, move, poses, quaternion, stretch, turn

EVERY = {**catalogue, **on_groups, **machines}
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
PLAYER = Path(nh.view.__file__).parent / "player.js"
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
STEPS = dict.fromkeys(machines, 0.05) | {"bicycle": 0.03, "rattleback": 0.01, "segway": 0.013}


def javascript(code, data):
    """What code, which ends in an expression of ``data`` and ``player``, gives in Node."""
    script = (
        PLAYER.read_text()
        + f"""
const player = globalThis.{KEY};
let text = "";
process.stdin.on("data", x => text += x).on("end", async () => {{
    const data = JSON.parse(text);
    console.log(JSON.stringify(await (async () => {{ {code} }})()));
}});"""
    )
    ran = subprocess.run(
        [NODE, "-e", script], input=json.dumps(data), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[:2000]
    return json.loads(ran.stdout)


def run(name, method=None, steps=40, **options):
    h = STEPS.get(name, 0.1)
    return nh.integrate(EVERY[name](), method or nh.DLA(), h=h, steps=steps, **options)


POSES = """
const scene = player.unpack(await player.inflate(data.scene));
return scene.actors.map(a => data.times.map(t => {
    const body = scene.models[a.model];
    return [...player.poses(body, player.columns(a, body, t))];
}));
"""


@needs_node
@pytest.mark.parametrize("name", EVERY)
def test_the_player_places_every_frame_where_the_library_does(name):
    """From the stored data in JavaScript, against the run in Python: at the nodes, and between
    them for all columns that are coordinates."""
    sol = run(name)
    film = nh.animate(sol)
    (actor,) = film.scene.actors
    derived = actor.model.columns or actor.model.rolls or name == "sleigh_se2"
    rng = np.random.default_rng(1)
    times = sol.t[::7] if derived else np.sort(rng.uniform(*sol.t[[0, -1]], 12))
    data = {"scene": base64.b64encode(scene_bytes(film.scene)).decode(), "times": times.tolist()}
    (found,) = javascript(POSES, data)
    found = np.array(found).reshape(len(times), -1, 4, 4)
    if derived:  # these follow the run as a whole: take them where they were computed
        at = actor.at(times)
        for column, x in actor.columns.items():
            np.testing.assert_allclose(at[column], np.interp(times, actor.t, x), atol=1e-6)
        columns = at
    else:
        columns = columns_of(sol, actor.model, times)
    expected = poses(actor.model.frames, columns)
    room = 1e-6 * max(1.0, film.scene.size(0), np.abs(sol.q).max())
    for k, (R, at) in enumerate(expected.values()):
        np.testing.assert_allclose(found[:, k, :3, :3].swapaxes(1, 2), R, atol=1e-6)
        np.testing.assert_allclose(found[:, k, 3, :3], at, atol=room)


@needs_node
def test_quaternions_are_interpolated_on_the_sphere_also_across_a_change_of_sign():
    sol = nh.integrate(nh.systems.rigid_body(), nh.Reference(), h=0.5, steps=12)
    names = [str(s) for s in sol.system.q]
    frames = {"body": Frame("world", quaternion(*names)), "back": Frame("world", quaternion(
        names[0], *("-" + n for n in names[1:])))}  # fmt: skip
    body = Model(frames, [("body", shapes.ball((0, 0, 0), 1.0))], [Track("body")])
    t = sol.t.copy()
    columns = dict(zip(names, sol.q.T.copy(), strict=True))
    for x in columns.values():
        x[5:] *= -1
    actor = stage.Actor("true", body, t, columns, "#000000")
    scene = stage.Scene([actor], [[0]], (0.0, 6.0))
    times = np.linspace(0.1, 5.9, 23)
    data = {"scene": base64.b64encode(scene_bytes(scene)).decode(), "times": times.tolist()}
    found = np.array(javascript(POSES, data)[0]).reshape(len(times), 3, 4, 4)
    R = nh.groups.SO3.matrix(between(sol, times))
    np.testing.assert_allclose(found[:, 1, :3, :3].swapaxes(1, 2), R, atol=1e-6)
    np.testing.assert_allclose(found[:, 2, :3, :3], R, atol=1e-6)
    here = poses(frames, actor.at(times))["body"][0]
    np.testing.assert_allclose(here, R, atol=1e-9)


MESHES = """
return data.map(shape => { const m = player.mesh([[3, shape]]); return [m.floats, m.colours]; });
"""


@needs_node
def test_player_and_library_make_the_same_meshes():
    L = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    spiral = [(np.cos(a), np.sin(a), 0.1 * a) for a in np.linspace(0, 6, 9)]
    drawn = [
        shapes.lathe([(0, 0), (1, 0.2), (0.5, 1), (0, 1)], 7, (1, 2, 3), (1, -2, 0.5)),
        shapes.ball((0, 0, 1), 0.7, 12, second="#102030", sectors=3, bands=2, scale=(1, 2, 0.5)),
        shapes.torus(2, 0.3, 9, 5, axis=(0, 1, 0)),
        shapes.capsule((0, 0, 0), (1, 1, 1), 0.2, colour=shapes.ACTOR),
        shapes.prism(L, -0.5, 1.5, 0.1, (0, 1, 0), (0, -1, 0), top="#FFFFFF"),
        shapes.prism(L[::-1], 0, 1),
        shapes.sweep(spiral, 0.1),
        shapes.sweep(spiral, 0.1, 5, closed=True),
        *shapes.wheel(0.5, at=(0, 0, 0.5)),
        *shapes.blade(1, 0.2),
    ]
    for shape, (floats, colours) in zip(drawn, javascript(MESHES, drawn), strict=True):
        mesh = shapes.mesh(shape)
        floats = np.reshape(floats, (-1, 4, 8))
        np.testing.assert_allclose(floats[..., :3], mesh.points, atol=1e-9)
        np.testing.assert_allclose(floats[..., 3:6], mesh.normals, atol=1e-9)
        assert np.all(floats[..., 6] == 3) and np.all(floats[..., 7] == shape["gloss"])
        painted = np.reshape(colours, (-1, 4, 4))[:, 0]
        np.testing.assert_array_equal(painted[:, :3], mesh.colours)
        np.testing.assert_array_equal(painted[:, 3] == 255, mesh.own)


def test_normals_point_out_of_closed_shapes():
    """The still leaves out faces that look away, so they must."""
    for shape in (
        shapes.ball((0, 0, 0), 1),
        shapes.tube((0, 0, -1), (0, 0, 1), 0.3),
        shapes.prism([(-1, -1), (1, -1), (1, 1), (-1, 1)], -1, 1, 0.1),
        shapes.sweep([(-1, 0, 0), (1, 0, 0)], 0.2),
    ):
        mesh = shapes.mesh(shape)
        assert np.all(np.einsum("mvi,mvi->mv", mesh.points, mesh.normals) > -1e-9)


def test_a_polygon_is_covered_by_its_triangles():
    a, r = np.arange(10) * np.pi / 5, np.resize([1, 0.4], 10)
    star = np.stack([r * np.cos(a), r * np.sin(a)], -1)
    corners = star[np.reshape(shapes.ears(star), (-1, 3))]
    (ax, ay), (bx, by), (cx, cy) = corners.transpose(1, 2, 0)
    areas = ((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2
    x, y = star.T
    whole = np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2
    assert np.all(areas > 0) and areas.sum() == pytest.approx(whole)


def test_numbers_are_packed_to_a_millionth():
    rng = np.random.default_rng(3)
    for x in (
        np.sin(np.arange(500) / 30),
        rng.normal(size=300),
        1e3 + np.arange(5.0),
        np.full(4, 7.0),
    ):
        packer = stage.Packer()
        offset, step, place, count = packer.put(x)
        data = np.frombuffer(packer.data(), "u1").reshape(4, count).T
        second = np.ascontiguousarray(data).view("<i4").ravel().astype(np.int64)
        whole = np.cumsum(np.cumsum(second).astype(np.int32)).astype(np.int32)
        np.testing.assert_allclose(offset + step * whole, x, atol=1e-6)
        assert place == 0


# ---------------------------------------------------------------------------- bodies


def rim(sol, frame, radius, k, e=1e-5):
    """The velocities of the lowest point of a wheel, its middle and its highest point, and the
    wheel's axle, at node k by central differences; the wheel's axle lies along y."""
    body = model(sol.system, [sol])
    q = np.array([sol.system.move(sol.q[k], sol.v[k], d) for d in (-e, 0, e)])
    names = [str(s) for s in sol.system.q]
    columns = stage.columns_at(body, names, q, sol.t[k] + np.array([-e, 0, e]))
    R, at = poses(body.frames, columns)[frame]
    axle = R[1, :, 1]
    down = np.array([0, 0, -1]) + axle[2] * axle
    low = radius * R[1].T @ down / np.linalg.norm(down)
    return *(((R[2] - R[0]) @ (s * low) + at[2] - at[0]) / (2 * e) for s in (1, 0, -1)), axle


BOARD = [("snakeboard", f"{end} {side}") for end in ("front", "rear") for side in ("left", "right")]


@pytest.mark.parametrize(
    "name, wheel",
    [
        ("rolling_disk", "coin"),
        ("tilted_disk", "coin"),
        *(("robot", f"wheel {k}") for k in range(3)),
    ],
)
def test_a_wheel_rolls_without_slipping(name, wheel):
    """The point of the rim that touches the ground is at rest, that on top twice as fast; the
    robot's wheels stand beside its middle, and turn about the vertical without moving it."""
    sol = run(name, nh.Reference())
    radius = {s.name: x for s, x in sol.system.parameters.items()}["R"]
    for k in (7, 23):
        low, middle, high, _ = rim(sol, wheel, radius, k)
        assert np.linalg.norm(low) < 1e-5 < np.linalg.norm(middle)
        np.testing.assert_allclose(high, 2 * middle, atol=1e-5)


@pytest.mark.parametrize("name, wheel", BOARD)
def test_wheels_of_the_snakeboard_roll_as_far_as_they_go(name, wheel):
    """They are steered on the spot, so that they scrub sideways; along their heading they do not
    slip."""
    sol = run(name, nh.Reference())
    for k in (7, 23):
        low, middle, high, axle = rim(sol, wheel, 0.09, k)
        heading = np.cross(axle, [0, 0, 1])
        assert abs(low @ heading) < 1e-5 < 0.1 < abs(middle @ heading)
        assert high @ heading == pytest.approx(2 * middle @ heading, abs=1e-5)


APART = {"Segway", "ball on a turntable"}  # falls over in this time; stands on its table


@pytest.mark.parametrize("name", sorted(MODELS.keys() - APART))
def test_bodies_of_the_catalogue_stand_on_their_floor(name):
    """They, or the stand that holds them."""
    make = next(m for m in EVERY.values() if m().name == name)
    sol = nh.integrate(make(), nh.DLA(), h=0.05, steps=20)
    film = nh.animate(sol)
    (actor,) = film.scene.actors
    origin, right, ahead = actor.model.floor.axes()
    up = np.cross(right, ahead)
    if actor.model.floor.kind != "none":
        times, room = (sol.t[0], sol.t[9], sol.t[-1]), film.scene.size(0)
        lowest = min(((actor.corners(t) - origin) @ up).min() for t in times)
        stand = ((still.placed(actor, 0.0, scenery=True).points - origin) @ up).min()
        assert -0.02 * room < lowest and min(lowest, stand) < 0.06 * room
    path = actor.paths()[0]
    assert np.abs((path - origin) @ up).max() < 1e-9 or name not in ("sleigh", "knife edge")


# ---------------------------------------------------------------------------- outlines


def ring(q):
    """A ring in space that turns with the rubber ball, and a rod up to its middle."""
    round_it = np.column_stack([nh.bodies.circle(9), np.zeros(9)])
    middle = np.array([q[0], q[1], 1.0])
    return [round_it @ nh.groups.SO3.matrix(q[2:]).T + middle, np.array([[*q[:2], 0], middle])]


def spring(q):
    """A zigzag from a wall to the mass x of the transmission, which is stretched, and the mass."""
    coils = np.linspace([-3, 0], [q[0] - 0.25, 0], 12)
    coils[2:-2, 1] += np.resize([0.12, -0.12], 8)
    return [nh.bodies.box(0.5, 0.5) + [q[0], 0], coils]


OUTLINES = {"rubber_ball": ring, "transmission": spring}


@pytest.mark.parametrize("name", ["car_with_trailer", "roller_racer", "snakeboard", *OUTLINES])
def test_outlines_become_solids_that_move_as_they_do(name):
    """The middle of each outline is where the frame fitted to it is, and a rigid outline's points
    are where the frame takes them."""
    sol = run(name)
    body = nh.bodies.body(sol.system, OUTLINES.get(name))
    from nhlab.view.models.outlines import NAMES, Outlined, _rigid

    made = Outlined(body, [sol])
    frames = made.model().frames
    found = poses(frames, made.columns(sol.q, sol.t))
    turned = poses({"plane": frames["plane"]}, {})["plane"][0]
    assert any(fit is _rigid for fit in made.fits) and len(NAMES) == 3
    for k in (0, 11, 33):
        for i, part in enumerate(read_outlines(body.parts(sol.q[k]))):
            if part.shape[1] == 2:
                part = np.column_stack([part, np.zeros(len(part))])
            fine = np.isfinite(part).all(1) & np.isfinite(made.rest[i]).all(1)
            R, at = (x[k] for x in found[f"part {made.leaders[i]}"])
            placed = (made.rest[i] - np.nanmean(made.rest[made.leaders[i]], 0)) @ R.T + at
            atol = 1e-6 if made.fits[i] is _rigid else 0.2
            np.testing.assert_allclose(placed[fine], part[fine] @ turned.T, atol=atol)


def test_outlines_that_change_their_number_are_refused():
    for grows in (
        lambda q: [np.eye(2)] * (1 + (abs(q[0]) > 0.1)),
        lambda q: [np.zeros((3 + (abs(q[0]) > 0.1), 2)) + q[:2]],
    ):
        with pytest.raises(ValueError, match=r"as many outlines, of as many points, .* be NaN"):
            nh.animate(run("sleigh"), body=grows)


def test_a_body_in_five_lines():
    def cart(system, runs):
        frames = {"cart": Frame("world", move("x", "y", 0.1), turn(2, "theta"))}
        parts = [
            ("cart", s) for s in shapes.box(0.6, 0.3, 0.1) + shapes.rod((0, 0, 0), (0, 0, 1), 0.02)
        ]
        return Model(frames, parts, [Track("cart")])

    sol = run("sleigh")
    film = nh.animate(sol, body=cart(sol.system, [sol]))
    assert film.scene.size(0) == pytest.approx(1.25, abs=0.15)


def test_a_system_without_a_body_gets_a_marker():
    x, y, theta, vx, vy, vtheta = nh.symbols("x y theta vx vy vtheta")
    own = nh.System((x, y, theta), (vx, vy, vtheta), (vx**2 + vy**2 + vtheta**2) / 2, name="mine")
    sol = nh.integrate(own, nh.DLA(), [0, 0, 0], [1, 0.5, 1], h=0.1, steps=20)
    (actor,) = nh.animate(sol).scene.actors
    np.testing.assert_allclose(actor.centre(sol.t)[:, :2], sol.q[:, :2], atol=1e-9)
    heading = poses(actor.model.frames, actor.at(sol.t))["marker"][0][:, :2, 0]
    np.testing.assert_allclose(heading, np.stack([np.cos(sol.q[:, 2]), np.sin(sol.q[:, 2])], -1))
    a, va = nh.symbols("a va")
    bare = nh.System((a,), (va,), va**2 / 2, name="bare")
    with pytest.raises(ValueError, match=r"no body is known .* have no x and y.*pass body="):
        nh.animate(nh.integrate(bare, nh.DLA(), [0], [1], h=0.1, steps=5))


def test_a_missing_column_is_named():
    sol = run("sleigh")
    frames = {"a": Frame("world", move("x", "w", 0), stretch(1, 1, "l"))}
    wrong = Model(frames, [("a", shapes.ball((0, 0, 0), 1))], [Track("a")])
    with pytest.raises(ValueError, match=r"uses the columns \['w', 'l'\]; the run has \['x', 'y'"):
        nh.animate(sol, body=wrong)


# The player of each version that notebooks may have stored; the last is that of today.
PLAYERS = {
    2: "9df30feb5e7cc7b3d4b66cfb18260ff11225f671e63b55f8513ded0ee188cb42",
    3: "9c76a0b341009c4d6a64fc084036a8404ed34d683158849ad350af0fbb97b590",
}


def test_a_changed_player_has_another_version():
    """Of players with one global name the first on a page plays all outputs, whoever wrote them."""
    now = hashlib.sha256(player().encode()).hexdigest()
    assert stage.VERSION == max(PLAYERS) and KEY == f"nhlab_stage_{stage.VERSION}"
    assert PLAYERS[stage.VERSION] == now, (
        "player.js has changed: if notebooks have stored it since, raise VERSION in stage.py and "
        f"in player.js; in any case write {now} here, and store the notebooks again"
    )


def stored_motions():
    """(notebook, number of the cell, name of the player, the player, packed) of stored motions."""
    form = re.compile(r",K='(\w+)'.*?decode\(await open\('([\w+/=]+)'\)\)")
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        for k, cell in enumerate(json.loads(file.read_text(encoding="utf-8"))["cells"]):
            for output in cell.get("outputs", []):
                for text in output.get("data", {}).values():
                    for key, code in form.findall("".join(text)):
                        yield file.stem, k, key, code


def test_notebooks_have_stored_the_player_of_today():
    now, others = player().encode(), set()
    for name, k, key, code in stored_motions():
        if key != KEY or gzip.decompress(base64.b64decode(code)) != now:
            others.add((name, k))
    assert not others, f"run these notebooks again and store them: {sorted(others)}"


def test_stored_motions_are_small():
    """Each adds at most 120 kB to a notebook: the still, twice, the run and the player."""
    large = []
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        for k, cell in enumerate(json.loads(file.read_text(encoding="utf-8"))["cells"]):
            for output in cell.get("outputs", []):
                data = {x: "".join(y) for x, y in output.get("data", {}).items() if "/" in x[:6]}
                found = re.findall(
                    r'<div class="nhlab-stage".*?</script></div>', "".join(data.values())
                )
                size = sum(map(len, found))
                if "[motion: " in data.get("text/plain", ""):
                    size += len(data["image/png"])
                large += [(file.stem, k, size)] if size > 120_000 * len(found) else []
    assert not large


@pytest.mark.parametrize("count, gap", [(30, 0.1), (300, 0.1), (5000, 0.01)])
def test_a_run_is_told_by_its_nodes_and_times_between_those_far_apart(count, gap):
    sol = nh.integrate(nh.systems.robot(), nh.DLA(), h=gap, steps=count)
    t = stage.sample(sol)
    nodes = np.isclose(t[:, None], sol.t, rtol=0, atol=1e-12).any(0)
    every = max(1, int(np.ceil(len(sol.t) / (stage.MOST - stage.SAMPLES))))
    assert nodes[::every].all() and t[-1] == sol.t[-1] and (np.diff(t) > 0).all()
    assert np.diff(t).max() < 1.001 * max(sol.t[-1] / stage.SAMPLES, 0)
    assert len(t) <= stage.MOST


def test_the_camera_follows_a_body_that_would_be_small():
    bicycle = nh.animate(run("bicycle", steps=80), exact=True).scene
    assert bicycle.follows(0) and not nh.animate(run("rolling_disk")).scene.follows(0)


def test_what_several_columns_have_in_common_is_packed_once():
    packer, x = stage.Packer(), np.sin(np.linspace(0, 3, 50))
    first, again, other = packer.put(x), packer.put(x.copy()), packer.put(x**2)
    assert first == again and other[2] == len(packer.data()) // 2


def test_the_scene_is_one_that_the_player_can_read():
    """The length of the JSON, the JSON, the numbers; as many frames as the shader has room for."""
    film = nh.animate(run("snakeboard"), exact=True, below="energy")
    data = gzip.decompress(scene_bytes(film.scene))
    (length,) = struct.unpack("<I", data[:4])
    head = json.loads(data[4 : 4 + length])
    assert head["version"] == stage.VERSION and "<" not in data[4 : 4 + length].decode()
    assert f'const KEY = "{KEY}"' in PLAYER.read_text()
    assert max(len(m["frames"]) for m in head["models"]) < 40
    assert [a["name"] for a in head["actors"]] == ["true motion", "DLA"]
