"""The stubs that tell editors the names of nhlab, written from the table in nhlab/__init__.py.

``python tests/stubs.py`` writes them anew after the table, or a public module, has changed.
"""

from pathlib import Path

import nhlab

HOME = Path(nhlab.__file__).parent
HEAD = '''"""Names of {} for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)
'''
OWN = ("methods", "plain")  # modules that are called so in nhlab, and say themselves what is public


def stubs() -> dict[Path, str]:
    """The text of each stub: that of nhlab and one for each public module, which lists its public
    names and nothing that the module imports for itself."""
    found = {HOME / "__init__.pyi": package()}
    for name in sorted(set(nhlab._MODULES) - set(OWN)):
        module = nhlab._MODULES[name]
        names = {x: f".{module}" for x in getattr(nhlab, name).__all__}
        found[HOME / f"{name}.pyi"] = listing(f"nh.{name}", names)
    return found


def package() -> str:
    """The stub of nhlab: each name is imported from where it lives, so that its types are known."""
    names = dict.fromkeys(sorted(nhlab._MODULES), ".")
    names |= {name: f".{module}" for name, module in sorted(nhlab._NAMES.items())}
    return listing("nhlab", names, "__version__: str\n")


def listing(title: str, names: dict[str, str], more: str = "") -> str:
    """A stub that imports each name from its module."""
    lines = [HEAD.format(title), *(f"from {home} import {x} as {x}" for x, home in names.items())]
    lines += ["", f"{more}__all__ = [", *(f'    "{x}",' for x in sorted(names)), "]", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
