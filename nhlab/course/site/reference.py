"""The pages of the library: every public name with its docstring and the example in it."""

import doctest
import inspect
import re
from importlib import import_module

from ...methods.method import Method

nhlab = import_module("nhlab")  # the names of all rooms; it is none itself
ROOMS = {  # in the order of the pages, with what a reader looks for there
    "mechanics": "Systems",
    "methods": "Methods",
    "run": "Runs",
    "geometry": "Symmetries, reduction, measurements",
    "view": "Pictures and panels",
    "browser": "Pages that compute by themselves",
    "course": "The course",
    "plain": "All integrators in 250 lines",
}
# with all they hold
LISTED = "bodies diagnostics discrete groups plain plot shapes stage systems".split()

# Parts of a docstring that are markup already, and stay as they are.
MARKUP = r"(?ms)(^\.\. math::[^\n]*\n(?:(?:[ \t][^\n]*)?\n)*|``.*?``|:\w+:`.*?`|^\* )"
ENTRY = re.compile(r"(?m)^(\w[\w., ()]*?) : +(.*(?:\n[ ]+\S.*)*)\n?")  # "h, steps : what they are"


def session(name):
    """The example in the docstring of a public name as a Python session, without the words between;
    "" if it has none."""
    parts = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(nhlab, name)) or "")
    return "".join(map(_typed, parts))


def _typed(example):
    """One call of a session as it was typed, and its answer."""
    first, *rest = example.source.splitlines()
    typed = [f">>> {first}", *(f"... {line}" for line in rest)]
    answer = example.want.replace("<BLANKLINE>", "")
    return "\n".join(typed) + f"\n{answer}"


def room(name):
    """The room in which a public name lives."""
    thing = getattr(nhlab, name)
    home = thing.__name__ if inspect.ismodule(thing) else thing.__module__
    return home.split(".")[1]


def directive(name):
    """What has Sphinx write down one name."""
    thing = getattr(nhlab, name)
    if inspect.ismodule(thing):
        members = "\n   :members:" if name in LISTED else ""
        return f".. automodule:: {thing.__name__}{members}"
    if inspect.isclass(thing) and issubclass(thing, Method):
        return f".. autoclass:: nhlab.{name}\n\n{promises(thing())}"
    if inspect.isclass(thing):
        return f".. autoclass:: nhlab.{name}\n   :members:"
    return f".. autofunction:: nhlab.{name}"


def promises(method):
    """What a method keeps, and what it does not."""
    lists = {"It keeps": method.keeps, "It does not keep": method.loses}
    return "\n".join(
        f"{head}\n\n" + "".join(f"- {x}\n" for x in said) for head, said in lists.items() if said
    )


def label(name):
    """What links to a name; labels know no capitals, so that the kind of thing belongs to it."""
    thing = getattr(nhlab, name)
    kind = "class" if inspect.isclass(thing) else type(thing).__name__
    return f"nh-{kind}-{name}"


def readable(lines):
    """A docstring as it is written in the code, in the markup of Sphinx."""
    text = re.split(r"(?m)^Examples\n-+\n", "\n".join(lines) + "\n")[0]  # a page has its own
    text = re.sub(r"(?m)^(Parameters|Attributes|Raises|Returns)\n-+\n", "", text)
    parts = re.split(MARKUP, text)
    parts[::2] = [re.sub(r"([*|])", r"\\\1", part) for part in parts[::2]]

    def item(found):
        said = re.sub(r"\n[ ]+", "\n  ", found[2])
        return f"\n- **{found[1]}**: {said}\n\n"

    return ENTRY.sub(item, "".join(parts)).split("\n")


def entry(name):
    """One name: a heading to link to, what it is, and how it is used."""
    title = f"nh.{name}"
    code = "".join(f"   {line}\n" for line in session(name).splitlines())
    example = f".. rubric:: Example\n\n.. code-block:: pycon\n\n{code}\n" if code else ""
    head = f".. _{label(name)}:\n\n{title}\n{'-' * len(title)}"
    return f"{head}\n\n{directive(name)}\n\n{example}"


def pages():
    """The text of each page, by its name: an index and one page for each room."""
    names = {key: [] for key in ROOMS}
    for name in sorted(nhlab.__all__, key=str.lower):
        names[room(name)].append(name)
    made = {"index": index(names)}
    for key, title in ROOMS.items():
        head = f"{title}\n{'=' * len(title)}\n\n"
        made[key] = head + "\n".join(entry(name) for name in names[key])
    return made


def index(names):
    """The list of all names, and the way to their pages."""
    text = "The library\n===========\n\n``import nhlab as nh``; each name has an example.\n\n"
    for key, title in ROOMS.items():
        listed = " · ".join(f":ref:`{x} <{label(x)}>`" for x in names[key])
        text += f":doc:`{title} <{key}>`\n   {listed}\n\n"
    return text + ".. toctree::\n   :hidden:\n\n" + "".join(f"   {key}\n" for key in ROOMS)
