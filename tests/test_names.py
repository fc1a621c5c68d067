"""What an editor sees of nhlab, and what a misspelt name is answered with."""

import inspect
import pickle

import pytest
import stubs
import surface

import nhlab as nh

jedi = pytest.importorskip("jedi")
ROOMS = {"codegen", "mechanics", "methods", "run", "geometry", "view", "browser", "course", "plain"}
LEAKS = {"np", "re", "io", "base64", "json", "sp", "plt", "annotations", "functools", "Any"}


def completions(code: str, interpreter: bool) -> set[str]:
    """The public names that Jedi offers behind the code."""
    path = str(stubs.HOME.parent / "reader.py")
    made = jedi.Interpreter(code, [{"nh": nh}]) if interpreter else jedi.Script(code, path=path)
    return {x.name for x in made.complete() if not x.name.startswith("_")}


def test_the_stubs_are_those_of_the_table():
    for path, text in stubs.stubs().items():
        assert path.read_text(encoding="utf-8") == text, "python tests/stubs.py"
    assert {*stubs.HOME.glob("*.pyi")} == {*stubs.stubs(), stubs.HOME / "plain.pyi"}
    assert (stubs.HOME / "py.typed").exists()


def test_an_editor_completes_the_names_of_nhlab():
    assert completions("import nhlab as nh\nnh.", False) - ROOMS == set(nh.__all__) - ROOMS
    assert completions("nh.", True) == set(nh.__all__)


def test_an_editor_knows_a_run_and_its_arguments():
    code = "import nhlab as nh\nsol = nh.integrate(nh.systems.robot(), nh.DLA(), h=0.1, T=1)\nsol."
    found = completions(code, False)
    assert found == {*surface.members(nh.Trajectory)}
    assert {"t", "q", "v", "p", "energy", "at", "to_dataframe", "to_xarray", "save"} <= found
    (call,) = jedi.Script("import nhlab as nh\nnh.DLA(").get_signatures()
    assert {"alpha", "symmetric"} <= {p.name for p in call.params}
    (call,) = jedi.Script("import nhlab as nh\nnh.integrate(").get_signatures()
    assert {"steps", "T", "events"} <= {p.name for p in call.params}


@pytest.mark.parametrize("name", sorted(nh._MODULES))
def test_modules_list_their_own_names_alone(name):
    module = getattr(nh, name)
    assert sorted(module.__all__) == dir(module) and not set(dir(module)) & LEAKS
    assert len(dir(module)) >= 1 and all(hasattr(module, x) for x in dir(module))
    assert completions(f"nh.{name}.", True) == set(module.__all__)
    if name not in stubs.OWN:
        found = completions(f"import nhlab as nh\nnh.{name}.", False)
        assert found == set(module.__all__)
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = module.nothing_like_it


def test_systems_are_the_catalogue():
    lists = {"catalogue", "machines", "on_groups"}
    known = {*nh.systems.catalogue, *nh.systems.machines, *nh.systems.on_groups}
    assert set(dir(nh.systems)) == known | lists


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: nh.integrate(nh.systems.particle(), nh.DLA(), h=0.1, step=3), "'steps'"),
        (lambda: nh.ensemble(nh.systems.particle(), nh.DLA(), h=0.1, summry="last"), "'summary'"),
        (lambda: nh.System([], [], 0, force=[1]), "'forces'"),
        (lambda: nh.dla, "'DLA'"),
        (lambda: nh.systems.robott(), "'robot'"),
        (lambda: nh.systems.robot(kk=2), "'k'"),
        (lambda: nh.DLA(alfa=0.5), "'alpha'"),
        (lambda: nh.Reference(tol=1e-9), "'atol'|'rtol'"),
        (lambda: nh.plot.enrgy, "'energy'"),
        (lambda: nh.GroupSystem(nh.groups.SO3, (), 0, constrains=[]), "'constraints'"),
        (lambda: nh.Chaplygin(nh.systems.particle(), fiber="z"), "'fibre'"),
        (lambda: nh.linearise(nh.systems.pendulum(), input=[]), "'inputs'"),
        (lambda: nh.report(nh.systems.pendulum(), vo=[0]), "'v0'"),
        (lambda: nh.animate(bodey=None), "'body'"),
        (lambda: nh.ask(nh.systems.pendulum(), q=[0]), "'q0'"),
        (lambda: nh.Symmetry(nh.systems.particle(), generator={}), "'generators'"),
        (lambda: nh.diagnostics.order(nh.systems.pendulum(), nh.DLA(), flor=1), "'floor'"),
        (lambda: nh.integrate(nh.systems.particle(), nh.DLA(), dt=0.1, T=1), "'h'"),
        (lambda: nh.integrate(nh.systems.particle(), nh.DLA(), h=0.1, t_end=1), "'T'"),
        (lambda: nh.ensemble(nh.systems.particle(), nh.DLA(), y0=[], h=0.1, T=1), "'q0'"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(call, meant):
    with pytest.raises((TypeError, AttributeError), match=rf"did you mean ({meant})\?"):
        call()


def answering() -> dict[str, object]:
    """The public functions with a fixed set of arguments, but for those of nh.plain, which is a
    text to copy; and the classes that a user makes."""
    made = {"nh.System", "nh.Symmetry", "nh.Event", *(f"nh.{x}" for x in nh.methods.__all__)}
    found = {}
    for name, thing in surface.named().items():
        if name in made or (inspect.isfunction(thing) and not name.startswith("nh.plain.")):
            kinds = [x.kind for x in inspect.signature(thing).parameters.values()]
            if inspect.Parameter.VAR_KEYWORD not in kinds:
                found[name] = thing
    return found


@pytest.mark.parametrize("name", answering())
def test_every_public_function_answers_an_argument_it_has_not(name):
    with pytest.raises(TypeError, match=r"has no argument 'qqqq'"):
        answering()[name](qqqq=0)


def test_what_answers_can_be_sent_to_other_processes():
    for f in (nh.live, nh.diagnostics.order, nh.plot.energy, nh.integrate):
        assert pickle.loads(pickle.dumps(f)) is f


def test_a_system_without_a_name_shows_its_coordinates():
    x, vx = nh.symbols("x vx")
    spring = nh.System([x], [vx], vx**2 / 2 - x**2 / 2)
    sol = nh.integrate(spring, nh.DLA(), [1], [0], h=0.1, steps=2)
    many = nh.ensemble(spring, nh.DLA(), [[1], [2]], [0], h=0.1, steps=2)
    shown = [spring, sol, many, nh.report(spring, [1], [0]), nh.ask(spring, [1], [0], T=1)]
    for thing in (str(x) for x in shown):
        assert "q = (x)" in thing and "unnamed" not in thing
    assert "q = (x)" in sol._repr_html_() and "q = (x)" in many._repr_html_()


def test_a_report_refuses_a_bad_start_once():
    with pytest.raises(ValueError, match=r"^v0 = .* violates the constraints") as refused:
        nh.report(nh.systems.particle(), [0, 1, 0], [1, 1, 0])
    assert refused.value.__context__ is None or refused.value.__suppress_context__
