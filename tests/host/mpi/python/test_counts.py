"""Counts that a buffer's length implies, as mpi4py has them."""

import numpy as np
import pytest
from nicbed.host.mpi.python import messages


def test_a_count_is_inferred_from_the_length() -> None:
    assert messages.simple([np.zeros(6), "d"], True)[1] == 6
    assert messages.simple([np.zeros(0), "d"], True)[1] == 0
    assert messages.vector([np.zeros(7), None, None, "d"], True, 3)[1] == [3, 2, 2]


@pytest.mark.parametrize("one", [
    lambda data: messages.simple([data, "d"], True),
    lambda data: messages.vector([data, None, None, "d"], True, 2)])
def test_a_length_that_is_no_multiple_is_refused(one) -> None:
    with pytest.raises(ValueError, match="buffer length 12 is not a multiple of datatype extent 8"):
        one(np.zeros(12, np.uint8))
