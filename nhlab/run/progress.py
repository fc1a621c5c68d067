"""A bar for those who wait."""

from __future__ import annotations

import time


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
