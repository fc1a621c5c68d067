"""The stage: a scene that plays in a browser, in a notebook, on a page, in a film.

What a notebook stores is a still and a script that replaces it by the player (``player.js``), so
that the motion plays again when the notebook is opened without a kernel.  Where no script runs, as
in a notebook that is not trusted, the still stays.
"""

import base64
import copy
import functools
import gzip
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image

from . import still
from .stage import VERSION, Scene, as_json, packed

KEY = f"nhlab_stage_{VERSION}"
STANDS = "This is a still: the motion plays where scripts run, in a notebook that is trusted."
FRAGMENT = (
    '<div class="nhlab-stage" style="max-width:860px"><img alt="{alt}" style="max-width:100%" '
    'src="data:image/webp;base64,{image}"{event}><p class="nhs-note">{stands}</p>{script}</div>'
)
# One line, since a line break could end it inside a text of Markdown.
LOADER = (
    "(async()=>{const el=%s.parentElement,K='%s',"
    "open=async t=>new Uint8Array(await new Response(new Blob([Uint8Array.from(atob(t),"
    "c=>c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());"
    "try{const scene=await open('%s');if(!globalThis[K]){const s=document.createElement('script');"
    "s.textContent=new TextDecoder().decode(await open('%s'));document.head.append(s)}"
    "globalThis[K].mount(el,scene,{play:%s})}"
    "catch(e){el.querySelector('.nhs-note').textContent="
    "'This is a still: the browser could not start the motion ('+e.message+').'}})()"
)
PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<link rel="icon" href="data:,"></head><body style="margin:16px">{body}</body></html>'
)
FILMS = ".html, .gif, .mp4 and .png"


@functools.cache
def player() -> str:
    """The player's code without its comments and its indentation."""
    code = (Path(__file__).parent / "player.js").read_text(encoding="utf-8")
    return re.sub(r"(?m)^\s*(//.*)?\n", "", re.sub(r"(?m)^[ \t]+", "", code))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@functools.cache
def _player_text() -> str:
    return _text(gzip.compress(player().encode(), 9, mtime=0))


def scene_bytes(scene: Scene) -> bytes:
    """The scene for the player: the length of its JSON, the JSON, the numbers, compressed."""
    head, data = packed(scene)
    text = as_json(head).encode()
    return gzip.compress(struct.pack("<I", len(text)) + text + data, 9, mtime=0)


class Stage:
    """A motion to watch.  A notebook shows it; ``save`` writes it as a page, a film or a picture.

    scene : what is shown, as data
    alt : what there is to see, in words
    """

    def __init__(self, scene: Scene, caption: str = "", frames: int = 72) -> None:
        self.scene, self.caption, self.frames = scene, caption, frames
        self.alt, self.plays = scene.alt, False

    def __repr__(self) -> str:
        see = 'A notebook plays it; in a script, .save("motion.html") writes a page that does.'
        return f"[motion: {self.alt} {see}]"

    @functools.cached_property
    def _picture(self):
        return still.picture(self.scene)

    @functools.cached_property
    def png(self) -> bytes:
        """The still."""
        return still.png(self._picture)

    @functools.cached_property
    def packed(self) -> str:
        """The scene as the player's ``inflate`` reads it."""
        return _text(scene_bytes(self.scene))

    def html(self, play: bool = False) -> str:
        """The still, and the script that replaces it by the player; ``play`` starts it at once."""
        script = self._loader("document.currentScript", play)
        return self._fragment(script=f"<script>{script}</script>")

    def html_of_widget(self, play: bool = False) -> str:
        """The same for the HTML of a widget, where scripts do not run: the image starts it."""
        script = f"this.onload=null;{self._loader('this', play)}"
        return self._fragment(event=f' onload="{escape(script)}"')

    def _loader(self, element: str, play: bool) -> str:
        start = "true" if play else "false"
        return LOADER % (element, KEY, self.packed, _player_text(), start)

    def _fragment(self, event: str = "", script: str = "") -> str:
        parts = {"alt": escape(self.alt), "image": _text(still.webp(self._picture))}
        return FRAGMENT.format(**parts, stands=STANDS, event=event, script=script)

    def started(self) -> "Stage":
        """The same, but it plays as soon as it is shown."""
        other = copy.copy(self)
        other.plays = True
        return other

    def _repr_mimebundle_(self, **_) -> dict[str, str]:
        page = self.html(self.plays)
        if self.caption:
            page += f'<div style="max-width:60em;line-height:1.4">{escape(self.caption)}</div>'
        return {"text/html": page, "image/png": _text(self.png), "text/plain": repr(self)}

    # ---- files

    def save(self, path: str | Path) -> Path:
        """Write a page (.html), a film (.gif, .mp4) or the still (.png); gives the path."""
        path = Path(path)
        write = {".html": self._page, ".gif": self._gif, ".mp4": self._mp4, ".png": self._png}
        if path.suffix not in write:
            raise ValueError(f"path = {str(path)!r} must end in one of {FILMS}")
        if not path.parent.is_dir():
            raise ValueError(f"path = {str(path)!r}: there is no folder '{path.parent}'; make it")
        write[path.suffix](path)
        return path

    def _page(self, path: Path) -> None:
        title = escape(self.caption or self.scene.title or "A motion")
        path.write_text(PAGE.format(title=title, body=self.html()), encoding="utf-8")

    def _png(self, path: Path) -> None:
        path.write_bytes(self.png)

    def pictures(self, count: int, width: int = still.WIDTH) -> Iterator[Image.Image]:
        """Pictures at equal times, seen as the player shows them."""
        return self.pictures_at(np.linspace(*self.scene.times, count), width)

    def pictures_at(
        self, times: Iterable[float], width: int = still.WIDTH
    ) -> Iterator[Image.Image]:
        """Pictures at some times, seen as the player shows them."""
        scene = self.scene
        far = [scene.far(k) for k in range(len(scene.panes))]
        follow = [scene.follows(k) for k in range(len(scene.panes))]
        for t in times:
            views = [scene.near(k, t) if follow[k] else far[k] for k in range(len(far))]
            yield still.picture(scene, float(t), width, views)

    def _gif(self, path: Path) -> None:
        images = list(self.pictures(self.frames, 480))
        # one palette for all pictures, with the colours of small parts, keeps the file small
        palette = images[-1].quantize(80, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        images = [x.quantize(palette=palette, dither=Image.Dither.NONE) for x in images]
        images[0].save(path, save_all=True, append_images=images[1:], duration=80, loop=0)

    def _mp4(self, path: Path) -> None:
        tool = shutil.which("ffmpeg")
        if tool is None:
            remedy = 'install ffmpeg, or save as "motion.gif" or "motion.html"'
            raise RuntimeError(
                f"a film .mp4 is written by ffmpeg, which is not on this computer; {remedy}"
            )
        first, *rest = self.pictures(2 * self.frames)
        size = tuple(2 * (x // 2) for x in first.size)  # the coder wants even numbers
        command = [tool, "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "{}x{}".format(*size)]
        command += ["-r", "24", "-i", "-", "-pix_fmt", "yuv420p", "-loglevel", "error", str(path)]
        data = b"".join(x.crop((0, 0, *size)).tobytes() for x in (first, *rest))
        subprocess.run(command, input=data, check=True)
