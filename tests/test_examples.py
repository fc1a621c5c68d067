"""Every public name has an example in its docstring, and all examples are true."""

import doctest
import inspect
import re
import sys

import pytest
import surface

import nhlab as nh
from nhlab.course.site import reference

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # three dots stand for any text


def examples() -> dict[str, doctest.DocTest]:
    """The examples of all modules in which public things are made, by the name of the docstring."""
    things = [*surface.named().values()]
    things += [f for c in surface.classes() for f in surface.functions(c)]
    homes = {x.__name__ if inspect.ismodule(x) else getattr(x, "__module__", "") for x in things}
    homes |= {"nhlab.mechanics.spelling"}
    own = sorted(x for x in homes if x.startswith("nhlab.") and x != "nhlab.plain")  # test_plain
    finder = doctest.DocTestFinder()
    found = [x for home in own for x in finder.find(sys.modules[home], home, globs={})]
    return {x.name: x for x in found if x.examples}


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_is_true(name):
    example, told = EXAMPLES[name], []
    if "spelling" in name:
        example.globs.update(vars(sys.modules["nhlab.mechanics.spelling"]))
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    assert runner.run(example, out=told.append).failed == 0, "".join(told)


@pytest.mark.parametrize("name", nh.__all__)
def test_a_public_name_has_an_example(name):
    assert ">>> " in reference.session(name), f"nh.{name} has no example in its docstring"


def functions_of(*modules: str) -> list[str]:
    """The names of the public functions in these modules of nhlab."""
    spaces = tuple(f"nh.{x}." for x in modules)
    named = surface.named().items()
    return [name for name, x in named if name.startswith(spaces) and inspect.isfunction(x)]


MEASURES = functions_of("diagnostics", "plot")
FUNCTIONS = [*MEASURES, *functions_of("exact", "shapes", "bodies", "systems")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_a_public_module_has_an_example(name):
    assert ">>> " in inspect.getdoc(surface.named()[name]), f"{name} has no example"


@pytest.mark.parametrize("thing", [nh.Trajectory, nh.Ensemble, nh.Event], ids=str)
def test_what_a_run_has_is_explained_where_an_editor_looks(thing):
    bare = [f.__qualname__ for f in surface.functions(thing) if not inspect.getdoc(f)]
    assert bare == []


OF_SYSTEMS = "set replace from_mechanics is_holonomic momentum project complete settle acceleration"
METHODS = {
    nh.Trajectory: "at energy constraint work reaction to_dataframe save __call__ __getitem__",
    nh.Ensemble: "to_dataframe save error",
    nh.System: f"{OF_SYSTEMS} by_fields",
}


@pytest.mark.parametrize("thing", METHODS)
def test_a_method_that_users_call_has_an_example(thing):
    bare = [x for x in METHODS[thing].split() if ">>> " not in inspect.getdoc(getattr(thing, x))]
    assert bare == []


RESULTS = {
    "Trajectory",
    "Ensemble",
    "Reduction",
    "IntegrationError",
    "Interrupted",
    "EnsembleError",
}
CALLED = [x for x in nh.__all__ if callable(getattr(nh, x)) and x not in RESULTS]  # by a user


@pytest.mark.parametrize("name", [*(f"nh.{x}" for x in CALLED), *MEASURES])
def test_a_docstring_has_a_line_for_every_argument(name):
    """In the section Parameters of numpydoc; several arguments may share a line."""
    thing = surface.named()[name]
    arguments = {*inspect.signature(thing).parameters}
    text = inspect.getdoc(thing).partition("Examples\n--------\n")[0]
    listed = text.partition("Parameters\n----------\n")[2]
    entries = re.findall(r"(?m)(?:^|;  )(\w[\w, ]*?)(?:\(values\))? (?::|->) ", listed)
    named = {x.strip() for entry in entries for x in re.split(r",| or ", entry)}
    assert arguments <= named, f"{name} does not say what {sorted(arguments - named)} are"


LISTED = re.compile(r"\s|[\w*, ]+?(\([^)]*\))? (:|->|or) ")  # further lines of an entry; an entry


@pytest.mark.parametrize("name", [f"nh.{x}" for x in CALLED])
def test_the_sections_of_a_docstring_are_numpydoc_s(name):
    """Parameters come before Returns, and hold entries alone: prose has a paragraph of its own."""
    text = inspect.getdoc(surface.named()[name])
    before, _, after = text.partition("Parameters\n----------\n")
    assert not after or "Returns\n-------\n" not in before
    prose = [x for x in after.split("\n\n")[0].splitlines() if not LISTED.match(x)]
    assert prose == []
