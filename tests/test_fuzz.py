"""A share of the fuzzer for every run of the tests; ``fuzz`` itself runs any number by hand."""

import fuzz
import pytest

SEED = "ci"


@pytest.mark.parametrize("part", range(8))
def test_random_calls(part):
    outcomes, findings = fuzz.fuzz(SEED, range(300 * part, 300 * (part + 1)))
    assert not findings, fuzz.report(SEED, outcomes, findings)
    assert outcomes["run"] + outcomes["ensemble"] > 60  # most calls are good ones
