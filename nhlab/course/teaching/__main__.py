"""``python -m nhlab.course.teaching slides|handout|assignment NN``, called by the launcher."""

import os
import sys

from . import assignment, handout, slides

if __name__ == "__main__":
    what, number, *options = sys.argv[1:]
    if what == "slides":
        os.execv(sys.executable, [sys.executable, *slides.main(number, *options)])
    made = {"handout": handout, "assignment": assignment}[what].main(number)
    print(f"nhlab: {made}")
