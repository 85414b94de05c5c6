import time

import pytest


@pytest.mark.parametrize("n", range(6))
def test_wait(n: int) -> None:
    time.sleep(0.3)
    assert n != 4
