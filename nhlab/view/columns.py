"""Pictures of several columns, parted: beside each other where there is room, else stacked.

On a phone the letters of two diagrams beside each other would be too small to be read.
"""

from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Sequence
from html import escape

from matplotlib.figure import Figure
from PIL import Image

WIDE = 740  # pixels of width from which on columns are parted
# Each column is 300 pixels wide or more, else it stands below the one before it.
ROW = '<div class="nhlab-columns" style="display:flex;flex-wrap:wrap">{}</div>'
COLUMN = "flex:1 1 300px;min-width:0;max-width:min(100%,{}px)"


def cuts_of(figure: Figure) -> list[int]:
    """Pixels from the left at which the columns of a drawn figure can be parted.

    None if it is narrow, if it is no grid, or if something reaches from one column into the next.
    """
    specs = [ax.get_subplotspec() for ax in figure.axes]
    columns = {spec.get_gridspec().ncols if spec else 0 for spec in specs}
    across = figure.legends or figure.get_suptitle()
    if len(columns) != 1 or across or figure.bbox.width < WIDE:
        return []
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    ends = [(spec.colspan.start, box) for spec, box in zip(specs, boxes, strict=True) if spec]
    cuts = []
    for column in range(1, *columns):
        left = max((box.x1 for k, box in ends if k < column), default=0)
        right = min((box.x0 for k, box in ends if k >= column), default=0)
        if left > right:
            return []
        cuts.append(round((left + right) / 2))
    return cuts


def in_columns(
    image: str, png: bytes, alt: str, cuts: Sequence[int], size: Sequence[int] = (0, 0)
) -> str:
    """HTML of a picture that is parted at some pixels.

    image : HTML with blanks for alt, source and style, perhaps for width and height
    size : width and height of the whole in pixels, if there are blanks for them
    """
    if not (cuts and png):
        return _filled(image, png, alt, "max-width:100%", *size)
    whole, parts = Image.open(io.BytesIO(png)), []
    for k, (x0, x1) in enumerate(itertools.pairwise([0, *cuts, whole.width])):
        file = io.BytesIO()
        whole.crop((x0, 0, x1, whole.height)).save(file, "png", compress_level=6)
        words, style = f"Part {k + 1} of the same." if k else alt, COLUMN.format(x1 - x0)
        parts.append(_filled(image, file.getvalue(), words, style, x1 - x0, whole.height))
    return ROW.format("".join(parts))


def _filled(image, png, alt, style, width, height):
    source = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    size = {"width": width, "height": height}
    return image.format(alt=escape(alt), source=source, style=style, **size)
