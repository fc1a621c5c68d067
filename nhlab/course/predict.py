"""Predictions: a question, the reader's answer, and only then the picture that decides.

``predictions/NN.md`` has the question, the choices (or the unit of a number, or the axes of a
sketch) and what there is to notice.  ``lessons/lesson_NN.py`` has a function for each prediction,
``prediction_1``, ..., which measures: it returns the truth (the first words of a choice, a number,
or the curve's x and y) and the numbers for the text, where ``<name:.2f>`` stands for one of them.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as w
import numpy as np
from IPython.display import Markdown

from ..view.figure import plain
from ..view.motion import PanelWithStage
from ..view.panel import RUN, Panel, synchronized
from ..view.picture import Picture
from ..view.player import Stage
from ..view.plot import DARK
from . import colours
from .exercises import function, section

PREDICTIONS = Path(__file__).parent / "predictions"
WIDE = {"width": "max-content", "max_width": "100%"}
PLATE = {"width": "640px", "max_width": "100%"}
FRAME = '<div style="border-left:4px solid {};padding:.3em .8em;max-width:60em">{}</div>'
# ipywidgets gives each choice one line, however long it is; here it may take more of them.
LINES = (
    "<style>.nhlab-choices .widget-radio-box label{height:auto;white-space:normal;display:flex;"
    "flex-direction:row-reverse;justify-content:flex-end;align-items:flex-start}"
    ".nhlab-choices .widget-radio-box input{flex:none}</style>"
)
CURVE = "<!-- curve {} -->"
COLOURS = {True: "#00734A", False: "#B25000", None: "#666666"}
ECHO = "description_allow_html"  # what the browser sets to "disabled": all controls have it
covered, made = True, {}  # whether answers are hidden, and the predictions of this kernel by name
watchers = []  # functions called when a prediction was made


def covers(on: bool) -> None:
    """With ``nh.covers(False)`` at the top of a notebook, every answer is shown at once.

    Parameters
    ----------
    on : False to show every answer at once, True to cover them again

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.covers(False)  # at the top of a notebook
    >>> nh.covers(True)
    """
    global covered
    covered = bool(on)


def form_of(text):
    """How a prediction is answered, as the text below its question says."""
    kind, _, rest = text.partition(": ")
    if kind == "number":
        return Number(rest)
    if kind == "sketch":
        xlabel, ylabel, *limits = rest.split(" | ")
        return Sketch(xlabel, ylabel, *(tuple(map(float, x.split())) for x in limits))
    return Choice(text.removeprefix("- ").split("\n- "))


# ---------------------------------------------------------------------------- ways to answer


class Form:
    """A way to answer.

    ``widget(ready)`` gives a box and the controls in it; each change calls ``ready``.
    """

    def said(self, controls):
        """The answer that the controls show."""
        return controls[0].value

    def options(self):
        """The choices, as Markdown."""
        return ""

    def doubt(self, said):
        """A question back about an answer that can hardly be meant; "" for all others."""
        return ""

    def meant(self, truth):
        """The truth as the form has it."""
        return truth

    def stated(self, stored: str) -> dict:
        """Return what a page without Python needs to ask and to judge.

        stored : the Markdown that a notebook has stored of this prediction
        """
        return {"kind": type(self).__name__.lower()}


class Choice(Form):
    """One of several sentences."""

    def __init__(self, choices):
        self.choices = choices

    def widget(self, ready):
        box = w.RadioButtons(options=self.choices, value=None, layout=WIDE)
        box.add_class("nhlab-choices")
        box.observe(lambda _: ready(), "value")
        return box, [box]

    def options(self):
        return "".join(f"\n- {x}" for x in self.choices)

    def meant(self, truth):
        """The one choice that begins with these words."""
        if truth in self.choices:
            return truth
        found = [x for x in self.choices if x.startswith(truth)]
        if len(found) != 1:
            raise ValueError(f"the truth {truth!r} is not one of the choices {self.choices}")
        return found[0]

    def right(self, said, truth):
        return said == truth

    def text(self, value):
        return value


class Number(Form):
    """A number, right within a quarter."""

    NEAR = 0.25  # of the truth
    MOST = 1e9  # nothing in these lessons is larger, whatever its unit

    def __init__(self, unit):
        self.unit = unit

    def widget(self, ready):
        box = w.FloatText(description="answer", layout={"width": "240px"})
        box.observe(lambda _: ready(), "value")
        return box, [box]

    def stated(self, stored: str) -> dict:
        return {**super().stated(stored), "unit": self.unit, "near": self.NEAR, "most": self.MOST}

    def doubt(self, said):
        if abs(said) <= self.MOST:  # not so for NaN
            return ""
        return f"You wrote {self.text(said)}: do you mean that? Change it, or commit once more."

    def right(self, said, truth):
        return bool(abs(said - truth) <= self.NEAR * abs(truth))

    def text(self, value):
        return f"{value:.3g} {self.unit}".strip()


class Sketch(Form):
    """A curve through seven points that sliders move; right if it follows the true one."""

    def __init__(self, xlabel, ylabel, xlim, ylim):
        self.labels, self.xlim, self.ylim = {"xlabel": xlabel, "ylabel": ylabel}, xlim, ylim
        self.x, self.near = np.linspace(*xlim, 7), 0.2 * (ylim[1] - ylim[0])

    def picture(self, y, truth=None):
        picture = Picture((6.4, 3.2))
        picture.ax.set(xlim=self.xlim, ylim=self.ylim, **self.labels)
        if truth is not None:
            picture.ax.plot(*truth, color=colours.DARK, label="measured")
        if y is not None:
            picture.ax.plot(self.x, y, "o-", color=colours.ORANGE, label="your sketch")
        picture.ax.legend(loc="best")
        return picture.png()

    def shown(self, y, truth=None):
        """The picture as a widget that can be read out, too."""
        data = base64.b64encode(self.picture(y, truth)).decode()
        alt = f"A sketch of {self.labels['ylabel']} over {self.labels['xlabel']}."
        source = f'src="data:image/png;base64,{data}" style="max-width:100%"'
        image = f'<img alt="{html.escape(alt)}" class="nhlab-picture" {source}>'
        return w.HTML(f"<style>{DARK}</style>{image}", layout=PLATE)

    def widget(self, ready):
        low, high = self.ylim
        middle = {"value": (low + high) / 2, "min": low, "max": high, "step": (high - low) / 100}
        thin = {"width": "60px", "height": "160px"}
        sliders = [
            w.FloatSlider(**middle, description=f"{x:.3g}", orientation="vertical", layout=thin)
            for x in self.x
        ]
        image = self.shown([middle["value"]] * 7)

        def moved(_):
            image.value = self.shown(self.said(sliders)).value
            ready()

        for s in sliders:
            s.observe(moved, "value")
        below = {"justify_content": "space-between", "padding": "0 0 0 20px", **PLATE}
        return w.VBox([image, w.HBox(sliders, layout=below)]), sliders

    def said(self, controls):
        return [slider.value for slider in controls]

    def stated(self, stored: str) -> dict:
        found = re.search(CURVE.format("(.*?)"), stored)
        if not found:
            raise ValueError("the measured curve is not stored: run the notebook again")
        curve = json.loads(found[1])
        labels, limits = [plain(x) for x in self.labels.values()], [self.xlim, self.ylim]
        given = {"labels": labels, "limits": limits, "near": self.near, "curve": curve}
        return super().stated(stored) | given

    def curve(self, truth) -> str:
        """Return the measured curve as a comment in Markdown, for pages that judge a sketch."""
        x = np.linspace(*self.xlim, 61)
        points = [np.round(y, 4).tolist() for y in (x, np.interp(x, *truth))]
        return CURVE.format(json.dumps(points))

    def right(self, said, truth):
        return bool(np.abs(np.interp(self.x, *truth) - said).max() <= self.near)

    def text(self, value):
        # the measured one is dark on white, and pale where the page is dark
        return "the orange curve" if isinstance(value, list) else "the curve without dots"


# ---------------------------------------------------------------------------- a prediction


class Prediction(w.VBox):
    """The question; after an answer, or on demand, also the truth, the picture and the notice."""

    question: str
    form: Form
    name: str
    what: object
    right: bool | None
    made: bool
    doubted: str | None
    truth: Any
    notice: str
    controls: Sequence[Any]

    def __init__(
        self, text: str, measure: Callable[[], tuple[Any, dict[str, Any]]], name: str, what: object
    ) -> None:
        self.question, form, notice = text.split("\n\n", 2)
        self.form, self.name, self.what = form_of(form), name, what
        self.right, self.made, self.doubted = None, False, None
        truth, numbers = measure()
        self.truth, self.notice = self.form.meant(truth), noticed(notice, numbers)
        box, self.controls = self.form.widget(self.allow_commit)
        white = {"text_color": "white"}  # a dark theme would write black on blue
        blue = {"button_style": "primary", "style": white}
        self.commit = w.Button(description="Commit", disabled=True, **blue)
        self.commit.on_click(lambda _: self.ask_for_values())
        for control in self.controls:
            w.jsdlink((control, "disabled"), (control, ECHO))
            control.observe(lambda _: self.read_answer(), ECHO)
        show = w.Button(description="Just show me")
        show.on_click(lambda _: self.answer(None))
        asked = w.HTMLMath(LINES + FRAME.format(COLOURS[None], f"<b>{self.question}</b>"))
        self.back = w.HTML(layout={"display": "none"})  # a question back
        super().__init__([asked, box, w.HBox([self.commit, show]), self.back])
        made[name] = self
        if not covered:
            self.uncover(None)

    def allow_commit(self) -> None:
        """Called at each change of a control: there is an answer to commit."""
        self.commit.disabled = self.controls[0].disabled

    def ask_for_values(self) -> None:
        """Have the browser send what the reader sees, and judge it when it has come.

        While the kernel is busy the browser sends the first change of a control and keeps back the
        later ones until the first is dealt with; a click can overtake them all.  So the controls
        are switched off, and the browser repeats this for each of them (``ECHO``).  What it sends
        of one control keeps its order: with the echo its last value is here.
        """
        self.commit.disabled = True
        for control in self.controls:
            control.disabled = True

    @synchronized
    def read_answer(self) -> None:
        """Judge the answer when the browser has sent the last values of all controls."""
        if self.made or not all(getattr(control, ECHO) for control in self.controls):
            return
        said = self.form.said(self.controls)
        question = self.form.doubt(said)
        if question and self.doubted != repr(said):  # a NaN is not equal to itself
            self.doubted = repr(said)
            self.ask_back(question)
        else:
            self.answer(said)

    def ask_back(self, question: str) -> None:
        """Show a question about the answer, which the reader may change or commit once more."""
        self.back.value = FRAME.format(COLOURS[False], html.escape(question))
        self.back.layout.display = ""
        for control in self.controls:
            control.disabled = False
        self.commit.disabled = False

    def answer(self, said: Any) -> None:
        """Take the reader's answer, None for none, and uncover what was measured."""
        self.made, self.right = True, None if said is None else self.form.right(said, self.truth)
        self.uncover(said)
        for tell in watchers:
            tell()

    def uncover(self, said: Any) -> None:
        text = f"<b>{html.escape(self.form.text(self.truth))}</b>"
        if self.right:
            text = f"As you predicted: {text}"
        elif self.right is False:
            predicted = html.escape(self.form.text(said).rstrip("."))
            text = f"You predicted: <i>{predicted}</i>; measured: {text}"
        shown = [FRAME.format(COLOURS[self.right], f"{self.question}<br>{text}")]
        parts = [w.HTMLMath(shown[0]), _held(self.what), _held(Markdown(self.notice))]
        if isinstance(self.form, Sketch):
            parts.insert(1, self.form.shown(said, self.truth))
        self.children = parts

    def _picture(self, live):
        """What is uncovered as it stands, PNG as base64."""
        png = self.what.picture.png(small=True) if live else self.what.png
        if isinstance(self.form, Sketch):
            png = self.form.picture(None, self.truth)
        return base64.b64encode(png).decode()

    def _shown(self, live):
        """What is uncovered, as Markdown: its motion plays without a kernel, too."""
        motion = self.what if isinstance(self.what, Stage) else getattr(self.what, "stage", None)
        if motion is None or isinstance(self.form, Sketch):
            return f"![{self.what.alt}](data:image/png;base64,{self._picture(live)})"
        if not isinstance(self.what, PanelWithStage):
            return motion.html()
        # beside the motion of such a panel stands a picture of its own
        return f"{motion.html()}\n\n![{self.what.alt}](data:image/png;base64,{self._picture(live)})"

    def _repr_mimebundle_(self, **kwargs):
        """Without a kernel: the question, and the answer folded below it."""
        data = super()._repr_mimebundle_(**kwargs)
        live = isinstance(self.what, Panel)
        answer = f"**{self.form.text(self.truth)}**\n\n{self._shown(live)}"
        answer += f"\n\n*{RUN}*" if live else ""
        answer += f"\n\n{self.form.curve(self.truth)}" if isinstance(self.form, Sketch) else ""
        data["text/plain"] = f"[prediction: {self.question}]"
        data["text/markdown"] = (
            f"**{self.question}**\n{self.form.options()}\n\n<details><summary>What was measured"
            f"</summary>\n\n{answer}\n\n{self.notice}\n\n</details>"
        )
        return data


def _held(what):
    """``what`` as a widget."""
    # a motion that decides a prediction begins when it is uncovered
    if isinstance(what, w.Widget):
        getattr(what, "start_motion", lambda: None)()
        return what
    output = w.Output()
    output.append_display_data(what.started() if isinstance(what, Stage) else what)
    return output


def noticed(text, numbers):
    """A text with the numbers in their places, and without its line breaks."""

    def put(found):
        name, form = found.groups()
        return format(numbers[name], form or "")

    text = re.sub(r"<(\w+)(?::([^>]*))?>", put, text)
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def predict(name: str, what: object) -> Prediction:
    """Ask prediction "02.1" of a lesson; ``what`` is the panel or picture it is about, which is
    shown when the reader has answered.

    Parameters
    ----------
    name : of the prediction, as "02.1"
    what : the panel or picture that is shown afterwards

    Examples
    --------
    >>> import nhlab as nh
    >>> from nhlab.course.lessons import lesson_00
    >>> skate = nh.integrate(lesson_00.steered_skate(), nh.DLA(), h=0.02, steps=150)
    >>> asked = nh.predict("00.2", nh.animate(skate, body=lesson_00.skate_on_ice()))
    >>> asked.question
    'Can the skate be parked beside its start, with the heading it has now?'
    """
    measure = function("prediction", name)
    return Prediction(section(PREDICTIONS, name), measure, name, what)


def stated_form(name: str, stored: str) -> dict:
    """Return how prediction "02.1" is answered, for a page without Python: see ``Form.stated``."""
    return form_of(section(PREDICTIONS, name).split("\n\n", 2)[1]).stated(stored)


def either(first, second, *words):
    """Pick the phrase that matches which of two statements hold: the four ``words`` are for both,
    for the first alone, for the second alone, and for neither."""
    return words[2 * (not first) + (not second)]


class Predictions(w.HTML):
    """How many predictions of a lesson came true, kept up to date."""

    def __init__(self, lesson: str) -> None:
        self.lesson = lesson
        super().__init__()
        self.count()
        watchers.append(self.count)

    def count(self) -> None:
        asked = [p for name, p in made.items() if name.startswith(f"{self.lesson}.")]
        right = [p for p in asked if p.right]
        again = [p for p in asked if p.made and not p.right]
        text = f"Your predictions: {len(right)} of {len(asked)} as measured."
        if left := len(asked) - sum(p.made for p in asked):
            text += f" {left} still to make."
        if again:
            listed = "".join(f"<li>{p.name}: {p.question}</li>" for p in again)
            text += f" Look again at:<ul>{listed}</ul>"
        self.value = FRAME.format(COLOURS[None], text)

    def _repr_mimebundle_(self, **kwargs):
        data = super()._repr_mimebundle_(**kwargs)
        data["text/plain"] = "[Your predictions are counted here when the notebook runs.]"
        return data


def predictions(lesson: str) -> Predictions:
    """The summary of a lesson's predictions: ``nh.predictions("02")``.

    Parameters
    ----------
    lesson : as "02"

    Examples
    --------
    >>> import nhlab as nh
    >>> "Your predictions" in nh.predictions("02").value
    True
    """
    return Predictions(lesson)
