"""The loop over the chunks of a run, and a bar for those who wait."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ..codegen.program import progress_bar
from .errors import IntegrationError, Interrupted
from .events import ends_within

if TYPE_CHECKING:
    from .loop import Run
    from .reference import ReferenceRun

hidden: ContextVar[bool] = ContextVar("hidden", default=False)  # no bar appears while this is True


@contextmanager
def no_bars() -> Iterator[None]:
    """Within this block runs show no bar unless they are asked to by ``progress=True``.

    For runs that are only means to an end: a bar that stays above the sentence a reader waits for
    would be noise.
    """
    token = hidden.set(True)
    try:
        yield
    finally:
        hidden.reset(token)


class Bar:
    """A tqdm bar that appears only if the run takes longer than two seconds."""

    def __init__(self, progress: bool | None, steps: int) -> None:
        self.wanted = False if progress is None and hidden.get() else progress
        self.steps, self.bar = steps, None
        self.begun, self.count = time.perf_counter(), 0

    def __enter__(self) -> Bar:
        return self

    def update(self, count: int) -> None:
        late = self.wanted is None and time.perf_counter() - self.begun > 2
        if self.bar is None and self.count + count < self.steps and (late or self.wanted):
            options = {"unit": "step", "unit_scale": True, "initial": self.count}
            self.bar = progress_bar(total=self.steps, **options)
        self.count += count
        if self.bar is not None:
            self.bar.update(count)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def drive(run: Run | ReferenceRun, progress: bool | None) -> None:
    """The loop: let a run advance until all is done.  Ctrl-C keeps the computed part."""
    with Bar(progress, run.total) as bar:
        try:
            while run.done < run.total:
                before = run.done
                if not advanced(run, before):
                    break
                bar.update(run.done - before)
        except KeyboardInterrupt:
            text = f"interrupted after {run.done} of {run.total} {run.unit}"
            part = run.trajectory(text)
            raise Interrupted(f"{text}; the computed part is in .trajectory", part) from None


def advanced(run: Run | ReferenceRun, before: int) -> bool:
    """Let a run advance; False if a terminal event ended it, also before a step that failed."""
    try:
        run.advance()
    except IntegrationError as error:
        if run.events and ends_within(error.trajectory, run.events, run.stored(before)):
            return False
        raise
    return not (run.events and ends_within(run.trajectory(), run.events, run.stored(before)))
