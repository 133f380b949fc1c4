"""What a Python program may send: buffers, and arrays that have none."""

import numpy as np
import pytest
from nicbed.host.mpi.python.memory import buffer, view


class Tensor:
    """An array that only DLPack knows."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.device


class First(Tensor):
    """The same, of DLPack's first version."""

    def __dlpack__(self):  # type: ignore[override]
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", [Tensor, First])
def test_a_tensor_is_its_memory(kind):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    for one in (array, array.T):
        flat, code = view(kind(one), False)
        assert (len(flat), code) == (48, "f")
        flat.view(np.float32)[-1] += 5
    assert array[2, 3] == 21


def test_a_tensor_keeps_what_has_its_memory():
    flat, _ = view(Tensor(np.full(1000, 7, np.int16)), True)
    again = [np.full(1000, 9, np.int16) for _ in range(20)]
    assert set(flat.view(np.int16)) == {7} and len(again) == 20


@pytest.mark.parametrize("thing, text", [
    (Tensor(np.zeros((4, 4))[:, 0]), "not in one piece"),
    (Tensor(np.zeros(4), (2, 0)), "device 2; the target has that of the CPU alone"),
    (type("Gpu", (), {"__cuda_array_interface__": {}})(), "memory of a GPU"),
])
def test_tensors_that_are_refused(thing, text):
    with pytest.raises(BufferError, match=text):
        view(thing, True)


def test_a_tensor_that_may_not_be_written():
    array = np.zeros(4)
    array.flags.writeable = False
    view(Tensor(array), True)
    with pytest.raises(BufferError, match="read-only"):
        view(Tensor(array), False)


def test_a_buffer_is_of_whose_memory_it_has():
    memory = bytearray(b"abcdef")
    whole = buffer(memory)
    part = whole[2:4]
    part[:] = b"xy"
    assert memory == b"abxyef" and whole.obj is memory and part.obj is memory
    assert part.address == whole.address + 2 and part.tobytes() == b"xy"
    with pytest.raises(TypeError, match="read-only"):
        whole.toreadonly()[0] = 1
    with pytest.raises(IndexError):
        whole[::2]
    whole.release()
    assert (whole.address, whole.nbytes, whole.readonly) == (0, 0, False)
