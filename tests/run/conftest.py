"""What the tests of this room share."""

import pytest


@pytest.fixture
def silent(capfd):
    """Nothing prints, whether a call succeeds or fails."""
    yield
    out, err = capfd.readouterr()
    assert out == "" and err == ""
