"""What the tests of this room share."""

import pytest


@pytest.fixture(autouse=True)
def numba_if_asked_for(request):
    """Tests with the parameter "numba" are skipped where it is not installed."""
    values = getattr(request.node, "callspec", None) and request.node.callspec.params.values()
    if any(isinstance(x, str) and x == "numba" for x in values or ()):
        pytest.importorskip("numba")


@pytest.fixture
def silent(capfd):
    """Nothing prints, whether a call succeeds or fails."""
    yield
    out, err = capfd.readouterr()
    assert out == "" and err == ""
