"""A still of a scene without a display: the player's lights, floor and camera, in NumPy.

Bodies are drawn with a depth buffer at twice the resolution, the floor at the final one with lines
that are smooth by themselves; earlier poses are pale.
"""

import io
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter, map_coordinates

from .shapes import rgb
from .stage import TAN, Actor, Scene, View, poses

WIDTH = 640  # of the picture
FINE = 2  # bodies are drawn at this many times the resolution
SUN = np.array([-0.45, -0.55, 1.1]) / np.linalg.norm([-0.45, -0.55, 1.1])
AIR, BOUNCE = np.array([0.62, 0.66, 0.74], "f4"), np.array([0.36, 0.34, 0.31], "f4")
SUNLIGHT, SHADE, HAZE = 2.45, 0.62, "#FBFAF8"
FLOORS = {"tiles": ("#E6E4DE", "#B9B5AA"), "ice": ("#DDE9F1", "#AFC6D6")}
FLOORS |= {"snow": ("#EDF1F5", "#BFCEDC"), "none": (HAZE, HAZE)}
INK, EDGE = "#2B2F36", "#DDDAD2"
HIDDEN = 0.4  # how strong the part of a path is that lies behind a body
CHART = 112  # height of the strip with the curves


def _linear(colour: str) -> np.ndarray:
    return ((rgb(colour) / 255) ** 2.2).astype("f4")


def _shown(light: np.ndarray) -> np.ndarray:
    """Light as colour 0 .. 1, bright parts compressed."""
    light = light * (1 + light / 6) / (1 + light)
    return np.clip(light * 1.22, 0, 1) ** np.float32(1 / 2.2)


def _smooth(low: float, high: float, x: np.ndarray) -> np.ndarray:
    x = np.clip((x - low) / (high - low), 0, 1)
    return x * x * (3 - 2 * x)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The products of rows of three numbers; faster than einsum, which dominates a still."""
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.maximum(np.sqrt(_dot(v, v))[..., None], 1e-9)


def _mixed(corners: np.ndarray, triangle: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What triangles have at their corners (m, 3, 3), mixed at points (k,) of them by weights."""
    return sum(weights[:, i, None] * corners[triangle, i] for i in range(3))


# ---------------------------------------------------------------------------- a depth buffer


class Hits(NamedTuple):
    """For each pixel that shows a triangle: its number, the triangle, two weights, the depth."""

    pixel: np.ndarray
    triangle: np.ndarray
    u: np.ndarray
    v: np.ndarray
    depth: np.ndarray


def covered(corners: np.ndarray, width: int, height: int) -> np.ndarray:
    """The numbers of the pixels that triangles cover, some of them several times."""
    _, column, row = fragments(corners, width, height)
    return row * width + column


def fragments(
    corners: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangle, column and row of each pixel that a triangle covers, line by line."""
    x, y = corners[..., 0], corners[..., 1]
    first = np.clip(np.ceil(y.min(1) - 0.5), 0, height).astype(int)
    rows = np.clip(np.floor(y.max(1) - 0.5) + 1, 0, height).astype(int) - first
    rows = np.maximum(rows, 0)
    tri = np.repeat(np.arange(len(corners)), rows)
    row = np.arange(len(tri)) - np.repeat(np.cumsum(rows) - rows, rows) + first[tri]
    level, low, high = row + 0.5, np.full(len(tri), np.inf), np.full(len(tri), -np.inf)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        ya, yb = y[tri, a], y[tri, b]
        crosses = (ya <= level) != (yb <= level)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = x[tri, a] + (level - ya) / (yb - ya) * (x[tri, b] - x[tri, a])
        low, high = (
            np.where(crosses, np.minimum(low, at), low),
            np.where(crosses, np.maximum(high, at), high),
        )
    begin = np.clip(np.ceil(low - 0.5), 0, width)
    count = np.maximum(np.clip(np.floor(high - 0.5) + 1, 0, width) - begin, 0).astype(int)
    part = np.repeat(np.arange(len(tri)), count)
    column = (
        np.arange(len(part)) - np.repeat(np.cumsum(count) - count, count) + begin[part].astype(int)
    )
    return tri[part], column, row[part]


def raster(corners: np.ndarray, width: int, height: int) -> Hits:
    """What is seen of triangles (m, 3, 3) of pixels x, y and depths: the nearest at each pixel."""
    tri, column, row = fragments(corners, width, height)
    A, B, C = corners[:, 0], corners[:, 1], corners[:, 2]
    b, c = B - A, C - A
    det = b[:, 0] * c[:, 1] - c[:, 0] * b[:, 1]
    det = np.where(np.abs(det) < 1e-12, 1e-12, det)
    near = 1 / corners[..., 2]
    # u, v and 1/depth are linear in column and row; per triangle their values at A and slopes
    up, down = np.stack([c[:, 1], -b[:, 1]]) / det, np.stack([-c[:, 0], b[:, 0]]) / det
    rise = np.stack([near[:, 1] - near[:, 0], near[:, 2] - near[:, 0]])
    x = (column + 0.5 - A[tri, 0]).astype("f4")
    y = (row + 0.5 - A[tri, 1]).astype("f4")
    slopes = np.stack([*up, *down, near[:, 0], *rise], -1).astype("f4")[tri]
    u, v = slopes[:, 0] * x + slopes[:, 2] * y, slopes[:, 1] * x + slopes[:, 3] * y
    inverse = slopes[:, 4] + u * slopes[:, 5] + v * slopes[:, 6]
    pixel, best = row * width + column, np.zeros(width * height, "f4")
    np.maximum.at(best, pixel, inverse)
    seen = np.flatnonzero(inverse == best[pixel])
    owner = np.full(width * height, -1)
    owner[pixel[seen]] = seen  # of several that are equally near one
    k = owner[owner >= 0]
    return Hits(pixel[k], tri[k], u[k], v[k], 1 / inverse[k])


# ---------------------------------------------------------------------------- bodies


class Placed(NamedTuple):
    """A body at its place: triangles, normals, colours, gloss."""

    points: np.ndarray  # (m, 3, 3)
    normals: np.ndarray
    colours: np.ndarray  # (m, 3), linear
    gloss: np.ndarray


def placed(actor: Actor, t: float, scenery: bool = False, eye: np.ndarray | None = None) -> Placed:
    """The body of an actor at time t, without the faces that look away from the eye."""
    mesh, where = actor.model.mesh(scenery)
    found = poses(actor.model.frames, actor.at(t))
    R, at = (np.array([pose[i] for pose in found.values()]) for i in (0, 1))
    points = np.einsum("mij,mvj->mvi", R[where], mesh.points) + at[where][:, None]
    scale = np.maximum(np.einsum("fij,fij->fj", R, R), 1e-9)  # of stretched frames
    normals = np.einsum("mij,mvj->mvi", R[where], mesh.normals / scale[where][:, None])
    colours = np.where(mesh.own[:, None], rgb(actor.paint), mesh.colours)
    if eye is not None:
        faces = (np.einsum("mvi,mvi->mv", normals, eye - points) > 0).any(1)
        points, normals, colours = points[faces], normals[faces], colours[faces]
        mesh = mesh._replace(gloss=mesh.gloss[faces])
    pair = [[0, 1, 2], [0, 2, 3]]
    points, normals = (a[:, pair].reshape(-1, 3, 3) for a in (points, normals))
    linear = (np.repeat(colours, 2, 0) / 255).astype("f4") ** 2.2
    return Placed(points, normals.astype("f4"), linear, np.repeat(mesh.gloss, 2).astype("f4"))


class Camera:
    """A view on a picture of so many pixels."""

    def __init__(self, view: View, width: int, height: int):
        self.view, self.eye, self.axes = view, view.eye(), view.axes()
        self.width, self.height, self.scale = width, height, height / 2 / TAN

    def project(self, points: np.ndarray, fine: int = 1) -> np.ndarray:
        """Pixels x, y and the depth of points (..., 3)."""
        x, y, back = np.moveaxis((points - self.eye) @ self.axes.T, -1, 0)
        depth = np.maximum(-back, 1e-3 * self.view.distance)
        k = self.scale / depth
        return np.stack(
            [fine * (self.width / 2 + k * x), fine * (self.height / 2 - k * y), depth], -1
        )

    def rays(self) -> np.ndarray:
        """The directions of the pixels, (height, width, 3)."""
        x = (np.arange(self.width) + 0.5 - self.width / 2) / self.scale
        y = (self.height / 2 - np.arange(self.height) - 0.5) / self.scale
        right, up, back = self.axes.astype("f4")
        return x[None, :, None].astype("f4") * right + y[:, None, None].astype("f4") * up - back


class Pane:
    """One picture: the floor, then trails, bodies and ghosts upon it."""

    def __init__(self, scene: Scene, pane: int, t: float, view: View, width: int, height: int):
        self.scene, self.t, self.camera = scene, t, Camera(view, width, height)
        self.main, self.size = scene.main(pane), scene.size(pane)
        self.cast = [scene.actors[k] for k in scene.panes[pane]]
        self.floor, self.cell = self.main.model.floor, scene.cell(pane)
        self.origin, self.right, self.ahead = self.floor.axes()
        self.up = np.cross(self.right, self.ahead)
        self.depth = np.full(FINE * FINE * width * height, np.inf)

    def draw(self, earlier: list[float]) -> np.ndarray:
        """The picture, (height, width, 3) of colours 0 .. 1."""
        solid = [a for a in self.cast if not a.ghost]
        bodies = [placed(a, self.t, a is self.main, self.camera.eye) for a in solid]
        self.image = self._ground(self._casters(solid))
        for t in earlier:
            for a in solid:
                self._ghost(placed(a, t, False, self.camera.eye), a.paint, 0.2, 1)
        self._bodies(bodies)
        self._trails()
        for a in self.cast:
            if a.ghost:
                self._ghost(placed(a, self.t, False, self.camera.eye), a.colour, 0.62, FINE)
        return self.image

    # ---- the floor

    def _casters(self, solid: list[Actor]) -> list[np.ndarray]:
        """The triangles that cast shadows: those of the bodies, and apart from them the scenery."""
        moving = [placed(a, self.t).points for a in solid]
        if not self.main.model.scenery or not solid:
            return moving
        count = len(moving[solid.index(self.main)])
        return [*moving, placed(self.main, self.t, True).points[count:]]

    def _ground(self, casters: list[np.ndarray]) -> np.ndarray:
        camera, haze = self.camera, _linear(HAZE)
        image = np.broadcast_to(haze, (camera.height, camera.width, 3)).astype("f4")
        if self.floor.kind == "none":
            return image ** np.float32(1 / 2.2)
        rays = camera.rays()
        slant = rays @ self.up.astype("f4")
        rises = np.float32((self.origin - camera.eye) @ self.up)
        below = slant * np.sign(rises) > 1e-6
        s = np.where(below, rises / np.where(below, slant, 1), 1e6).astype("f4")
        place = (camera.eye - self.origin).astype("f4") + s[..., None] * rays
        x, y = place @ self.right.astype("f4"), place @ self.ahead.astype("f4")
        plain, line = map(_linear, FLOORS[self.floor.kind])
        grid = 0.85 * _grid(x, y, self.cell, 0.9)  # fine lines as in the player cost 10 kB
        light = np.ones_like(x)
        for some in casters:
            light *= self._light(some, x, y)
        shade = 1 - SHADE * (1 - light)
        floor = (plain + (line - plain) * (0.65 * grid)[..., None]) * shade[..., None]
        away = np.hypot(
            *np.moveaxis(place[..., :2] - (camera.view.focus - self.origin)[:2].astype("f4"), -1, 0)
        )
        reach = 3.2 * camera.view.distance
        fog = np.where(below, _smooth(0.25 * reach, 1.05 * reach, away), 1)[..., None]
        return (floor + (haze - floor) * fog) ** np.float32(1 / 2.2)

    def _light(self, casters: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """How bright the floor is at its points under what casts a shadow on it: the higher that
        is, the softer."""
        height = (casters - self.origin) @ self.up
        fall = casters - SUN * (height / (SUN @ self.up))[..., None] - self.origin
        flat = np.stack([fall @ self.right, fall @ self.ahead], -1)
        low, high = flat.min((0, 1)) - 0.2 * self.size, flat.max((0, 1)) + 0.2 * self.size
        n, span = 200, float(np.max(high - low))
        pixels = np.concatenate([(flat - low) / span * n, np.ones((*flat.shape[:2], 1))], -1)
        mean, light = height.mean(1) / self.size, np.ones((n, n), "f4")
        for bottom, top, sigma in ((-1e9, 0.12, 0.01), (0.12, 0.35, 0.03), (0.35, 1e9, 0.055)):
            some = pixels[(mean >= bottom) & (mean < top)]
            if len(some):
                hit = np.zeros(n * n, "f4")
                hit[covered(some, n, n)] = 1
                light *= 1 - gaussian_filter(hit.reshape(n, n), sigma * self.size / span * n)
        found = np.ones_like(x)
        i, j = ((a - o) / span * n - 0.5 for a, o in ((x, low[0]), (y, low[1])))
        inside = np.flatnonzero(((i > 0) & (i < n - 1) & (j > 0) & (j < n - 1)).ravel())
        places = [j.ravel()[inside], i.ravel()[inside]]
        found.ravel()[inside] = map_coordinates(light, places, order=1)
        return found

    # ---- what is on it

    def _trails(self) -> None:
        """The paths so far, older parts paler, drawn at a higher resolution and scaled down."""
        begin, end = self.scene.times
        for a in sorted(self.cast, key=lambda a: not a.ghost):
            for k, path in enumerate(a.paths()):
                upto = np.append(a.t[a.t < self.t], self.t)
                points = np.stack([np.interp(upto, a.t, path[:, i]) for i in range(3)], -1)
                age = np.exp(-(self.t - upto) / ((end - begin) / 3))
                self._line(
                    points + 0.003 * self.size * self.up,
                    age,
                    a,
                    1.0 if k else 1.9,
                    0.5 if k else 1.0,
                )
                if self.scene.future:
                    self._line(path, np.zeros(len(path)), a, 1.4, 0.5)

    def _line(
        self, points: np.ndarray, age: np.ndarray, a: Actor, width: float, alpha: float
    ) -> None:
        camera, fine = self.camera, 3
        p = camera.project(points, fine)
        ahead = p[:, 2] > 2e-3 * camera.view.distance
        cover = Image.new("L", (fine * camera.width, fine * camera.height))
        draw = ImageDraw.Draw(cover)
        strength = np.round(255 * alpha * (0.34 + 0.66 * age) * self._seen(p, fine)).astype(int)
        dash = (self.scene.times[1] - self.scene.times[0]) / 60
        stroke = max(1, round(2 * width * fine / 2))
        for k in range(len(p) - 1):
            gap = a.dash and (k * 60 / max(len(p), 1)) % 1 > 0.6 and dash > 0
            if ahead[k] and ahead[k + 1] and not gap:
                draw.line([*p[k, :2], *p[k + 1, :2]], fill=int(strength[k + 1]), width=stroke)
        cover = cover.resize((camera.width, camera.height), Image.Resampling.BOX)
        part = np.asarray(cover, "f4")[..., None] / 255
        self.image = self.image + (rgb(a.colour).astype("f4") / 255 - self.image) * part

    def _seen(self, points: np.ndarray, fine: int) -> np.ndarray:
        """1 for projected points (k, 3) before all bodies, HIDDEN for those behind one."""
        width, height = (FINE * x for x in (self.camera.width, self.camera.height))
        column, row = (points[:, :2] * (FINE / fine)).astype(int).T
        inside = (0 <= column) & (column < width) & (0 <= row) & (row < height)
        depth = np.full(len(points), np.inf)
        depth[inside] = self.depth[(row * width + column)[inside]]
        return np.where(points[:, 2] > depth + 0.004 * self.size, HIDDEN, 1.0)

    def _bodies(self, bodies: list[Placed]) -> None:
        if not bodies:
            return
        body = Placed(*(np.concatenate(parts) for parts in zip(*bodies, strict=True)))
        every = self._hits(body, FINE)
        self.depth[every.pixel] = every.depth
        hits, weight = self._merged(every, body, FINE)
        light, _ = self._shade(body, hits, FINE)
        self._lay(hits, _shown(light), weight, FINE)

    def _ghost(self, body: Placed, colour: str, alpha: float, fine: int) -> None:
        tint = _linear(colour)
        body = body._replace(colours=0.18 * body.colours + 0.82 * tint)
        hits = self._hits(body, fine)
        if fine == FINE:  # behind a body it is hidden, and just before one, too
            near = hits.depth + 0.02 * self.size < self.depth[hits.pixel]
            hits = Hits(*(x[near] for x in hits))
        hits, weight = self._merged(hits, body, fine)
        light, facing = self._shade(body, hits, fine)
        colour = _shown(0.55 * body.colours[hits.triangle] + 0.45 * light)
        self._lay(hits, colour, weight * alpha * (0.42 + 0.58 * (1 - facing) ** 1.4), fine)

    def _lay(self, hits: Hits, colour: np.ndarray, alpha: np.ndarray, fine: int) -> None:
        """Blend what was hit over the picture, scaled down."""
        w, h = self.camera.width, self.camera.height
        y, x = np.divmod(hits.pixel, fine * w)
        pixel, weight = (y // fine) * w + x // fine, alpha / (fine * fine)
        cover = np.bincount(pixel, weight, w * h).astype("f4")
        flat = self.image.reshape(-1, 3)
        for i in range(3):
            flat[:, i] = flat[:, i] * (1 - cover) + np.bincount(pixel, weight * colour[:, i], w * h)

    def _hits(self, body: Placed, fine: int) -> Hits:
        """The fine pixels of a body."""
        corners = self.camera.project(body.points, fine)
        return raster(corners, fine * self.camera.width, fine * self.camera.height)

    def _merged(self, hits: Hits, body: Placed, fine: int) -> tuple[Hits, np.ndarray]:
        """Of a pixel that a body covers in one colour, one of its fine pixels for all of them,
        since its light hardly changes within it; and of each hit how many it stands for."""
        width = self.camera.width
        y, x = np.divmod(hits.pixel, fine * width)
        block = (y // fine) * width + x // fine
        _, paint = np.unique(body.colours @ np.array([1, 8.3, 61.7], "f4"), return_inverse=True)
        mark = paint[hits.triangle].astype(float)
        count, total, square = (np.bincount(block, w) for w in (None, mark, mark**2))
        whole = (count == fine**2) & (square * count == total**2)
        whole = whole[block]
        keep = ~whole | ((y % fine == 0) & (x % fine == 0))
        weight = np.where(whole, fine**2, 1)[keep].astype("f4")
        return Hits(*(part[keep] for part in hits)), weight

    def _shade(self, body: Placed, hits: Hits, fine: int) -> tuple[np.ndarray, np.ndarray]:
        """The light of some pixels, and how much they face the eye; as in the player."""
        camera = self.camera
        depths = camera.project(body.points, fine)[..., 2]
        tri, weights = hits.triangle, np.stack([1 - hits.u - hits.v, hits.u, hits.v], -1)
        weights = (weights / depths[tri]).astype("f4")
        weights /= weights.sum(1, keepdims=True)
        p = _mixed((body.points - camera.eye).astype("f4"), tri, weights)
        N, V = _unit(_mixed(body.normals, tri, weights)), -_unit(p)
        facing = _dot(N, V)
        N *= np.where(facing < 0, -1, 1)[:, None].astype("f4")
        facing, g, c = np.abs(facing), body.gloss[tri], body.colours[tri]
        sun = SUN.astype("f4")
        lit, shine = np.clip(N @ sun, 0, 1), np.clip(_dot(N, _unit(V + sun)), 0, 1)
        rough = 0.65 - 0.51 * g
        height = p @ self.up.astype("f4") + np.float32((camera.eye - self.origin) @ self.up)
        sky = (0.55 + 0.45 * _smooth(0, 0.3 * self.size, height))[:, None]
        sky = sky * (BOUNCE + (AIR - BOUNCE) * (N[:, 2:] * 0.5 + 0.5))
        R = 2 * facing[:, None] * N - V
        box = _smooth(0.35, 0.75, R[:, 2]) * (0.5 + 0.5 * _smooth(-0.4, 0.4, R[:, 0] - R[:, 1]))
        F = 0.04 + 0.96 * (1 - facing) ** 5
        light = c * (sky + (SUNLIGHT * lit)[:, None])
        light += (lit * SUNLIGHT * g * shine ** (2 / rough**3) * 0.9 + 0.1 * g * box)[:, None]
        light += (F * g * 1.6)[:, None] * (box[:, None] * 1.1 * AIR + 0.25 * BOUNCE)
        return light, facing


def _grid(x: np.ndarray, y: np.ndarray, cell: float, width: float) -> np.ndarray:
    found = np.zeros_like(x)
    for a in (x, y):
        u = a / np.float32(cell)
        slope = np.zeros_like(u)
        slope[:, :-1] += np.abs(np.diff(u, axis=1))
        slope[:-1] += np.abs(np.diff(u, axis=0))
        off = np.abs((u - 0.5) % 1 - 0.5) / np.maximum(slope, 1e-5)
        line = np.clip(width + 0.5 - off, 0, 1) * (1 - np.clip((slope - 0.08) / 0.42, 0, 1))
        found = np.maximum(found, line)
    return found


# ---------------------------------------------------------------------------- the picture


def render(
    scene: Scene, t: float | None = None, width: int = WIDTH, views: Any = None
) -> np.ndarray:
    """The scene at time t, (height, width, 3) of colours 0 .. 255, by default at its telling time
    with earlier poses."""
    still = t is None
    t = scene.moment if still else t
    height = round(width / scene.aspect)
    count = len(scene.panes)
    pictures = []
    for k in range(count):
        view = views[k] if views else scene.poster(k, t)
        pane = Pane(scene, k, t, view, width // count, height)
        pictures.append(pane.draw(scene.earlier(k, t) if still else []))
        if k:
            pictures[-1][:, 0] = rgb(EDGE) / 255
    image = np.clip(np.concatenate(pictures, 1), 0, 1)
    return np.round(255 * image).astype(np.uint8)


def picture(
    scene: Scene, t: float | None = None, width: int = WIDTH, views: Any = None
) -> Image.Image:
    """The scene with names, and the curves that run in step below."""
    image = Image.fromarray(render(scene, t, width, views))
    t = scene.moment if t is None else t
    if any(a.reading for a in scene.actors):
        whole = Image.new("RGB", (image.width, image.height + CHART), HAZE)
        whole.paste(image)
        _curves(ImageDraw.Draw(whole), scene, t, image.height, image.width)
        image = whole
    draw, font = ImageDraw.Draw(image), _font(13)
    for k, pane in enumerate(scene.panes):
        x = 12 + k * (width // len(scene.panes))
        for number in pane:
            a = scene.actors[number]
            draw.line([x, 18, x + 18, 18], fill=a.colour, width=3)
            draw.text((x + 24, 18), a.name, INK, font, "lm")
            x += 44 + draw.textlength(a.name, font)
    return image


def _font(size: int) -> Any:
    return ImageFont.load_default(size)


def _curves(draw: Any, scene: Scene, t: float, top: int, width: int) -> None:
    """The readings over time: pale what is to come."""
    read = [a for a in scene.actors if a.reading]
    values = np.concatenate([a.reading[1][np.isfinite(a.reading[1])] for a in read])
    low, high = float(values.min()), float(values.max())
    flat = high - low <= 1e-13 * abs(high)  # what is left is rounding
    room = max(1e-12, 0.05 * abs(high)) if flat else 0.06 * (high - low)
    low, high = low - room, high + room
    begin, end = scene.times
    x = lambda s: 58 + (width - 72) * (s - begin) / (end - begin)  # noqa: E731
    y = lambda v: top + CHART - 12 - (CHART - 38) * (v - low) / (high - low)  # noqa: E731
    marks, base = ticks(low, high)
    draw.text((14, top + 6), scene.label + (f", above {base}" if base else ""), INK, _font(12))
    for v, text in marks:
        draw.line([58, y(v), width - 14, y(v)], fill=EDGE)
        draw.text((52, y(v)), text, "#5A6068", _font(11), "rm")
    for a in read:
        times, found = (np.asarray(z, float) for z in a.reading)
        keep = np.linspace(0, len(times) - 1, min(len(times), 1500)).astype(int)
        points = np.column_stack([x(times[keep]), y(found[keep])])
        points = points[np.isfinite(points).all(1)]
        pale = tuple(int(255 - 0.3 * (255 - c)) for c in rgb(a.colour))
        draw.line([*map(tuple, points)], fill=pale, width=2)
        done = points[points[:, 0] <= x(t) + 1e-9]
        if len(done) > 1:
            draw.line([*map(tuple, done)], fill=a.colour, width=2)
    draw.line([x(t), top + 24, x(t), top + CHART - 8], fill="#5A6068")


def ticks(low: float, high: float) -> tuple[list[tuple[float, str]], str]:
    """Two to five round numbers within and how they are written; where they agree in many digits,
    how far they are above the first, which is given apart."""
    raw = (high - low) / 3
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(m for m in (1, 2, 5, 10) if m * power >= 0.999 * raw) * power
    found = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step + 0.0
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    size = max(abs(low), abs(high))
    if digits <= 3 or size < 50 * step:
        form = f".{digits}f" if digits <= 4 else ".0e"
        return [(float(v), format(v, form)) for v in found], ""
    base = float(found[0])
    texts = [f"{v - base:+.0e}" if v > base else "0" for v in found]
    return [(float(v), x) for v, x in zip(found, texts, strict=True)], f"{base:.{digits}f}"


def png(image: Image.Image, colours: int = 64) -> bytes:
    """A small PNG: with a palette, which suits large even areas."""
    file = io.BytesIO()
    small = image.quantize(colours, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    small.save(file, "PNG", optimize=True)
    return file.getvalue()


def webp(image: Image.Image, quality: int = 55) -> bytes:
    """A smaller picture for pages."""
    file = io.BytesIO()
    image.save(file, "WEBP", quality=quality, method=4)
    return file.getvalue()
