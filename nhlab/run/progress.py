"""A run on its way: the bar for those who wait, and Ctrl-C for those who do not."""

from __future__ import annotations

import time

from .errors import Interrupted


def drive(run, total, unit, progress):
    """Let the run advance until all is done; Ctrl-C keeps the computed part."""
    with Bar(progress, total) as bar:
        try:
            while run.done < total:
                before = run.done
                run.advance()
                bar.update(run.done - before)
        except KeyboardInterrupt:
            text = f"interrupted after {run.done} of {total} {unit}"
            part = run.trajectory(text)
            raise Interrupted(f"{text}; the computed part is in .trajectory", part) from None
    return run.trajectory()


class Bar:
    """A tqdm bar that appears only if the run takes longer than two seconds."""

    def __init__(self, progress, steps):
        self.wanted, self.steps, self.bar = progress, steps, None
        self.begun, self.count = time.perf_counter(), 0

    def __enter__(self):
        return self

    def update(self, count):
        late = self.wanted is None and time.perf_counter() - self.begun > 2
        if self.bar is None and self.count + count < self.steps and (late or self.wanted):
            from tqdm.auto import tqdm

            options = {"unit": "step", "unit_scale": True, "leave": False}
            self.bar = tqdm(total=self.steps, initial=self.count, **options)
        self.count += count
        if self.bar is not None:
            self.bar.update(count)

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
