"""Arrays of other libraries, which have no buffer but say where their elements are: DLPack's, in
this process's memory. The target has no GPU, so memory of one is refused.

A capsule is looked into and not consumed, as mpi4py does: it frees what it has when it goes.
"""

import ctypes
from typing import Any

import numpy as np

__all__ = ["is_tensor", "of_tensor"]

CPU = 1
"""DLPack's number of the device whose memory is this process's."""
READ_ONLY = 1
KINDS = "iufVVcb"
"""numpy's kinds by DLPack's codes; those that numpy has not are bytes."""
NAMES = (b"dltensor_versioned", b"dltensor")


class _Tensor(ctypes.Structure):
    """DLTensor, of dlpack.h."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned; DLManagedTensor begins with its tensor."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


class _Kept(np.ndarray):
    """An array in the memory of something else, which it keeps."""

    whose: Any = None


def is_tensor(thing: Any) -> bool:
    """Tells whether ``thing`` is such an array."""
    return hasattr(thing, "__dlpack__") or hasattr(thing, "__cuda_array_interface__")


def of_tensor(thing: Any) -> Any:
    """``thing`` as an array of numpy.

    Raises
    ------
    BufferError
        It is in the memory of another device, or not in one piece, or not as DLPack has it.
    TypeError, ValueError
        What it says of its device is no pair of numbers.
    """
    if not hasattr(thing, "__dlpack__"):
        raise BufferError("message: memory of a GPU, and the target has none")
    device, number = thing.__dlpack_device__()
    if not isinstance(device, int) or not isinstance(number, int):
        raise TypeError("message: __dlpack_device__ must give two integers")
    if device != CPU:
        raise BufferError(f"message: memory of DLPack's device {device}; the target has that of "
                          "the CPU alone")
    try:
        capsule = thing.__dlpack__(stream=None, max_version=(1, 0))
    except TypeError:
        capsule = thing.__dlpack__()
    name = next((one for one in NAMES if _is_valid(capsule, one)), None)
    if name is None:
        raise BufferError("message: __dlpack__ gave no capsule of DLPack")
    address = _pointer(capsule, name)
    flags = 0
    if name == NAMES[0]:
        managed = _Versioned.from_address(address)
        if managed.major != 1:
            raise BufferError(f"message: DLPack's version {managed.major}")
        tensor, flags = managed.tensor, managed.flags
    else:
        tensor = _Tensor.from_address(address)
    found = _array(tensor).view(_Kept)
    found.whose = thing, capsule
    found.flags.writeable = not flags & READ_ONLY
    return found


def _array(tensor: _Tensor) -> Any:
    """The elements of ``tensor``."""
    axes = tensor.ndim
    if axes < 0 or axes and not tensor.shape:
        raise BufferError(f"message: a DLPack tensor of {axes} axes without a shape")
    shape = [tensor.shape[axis] for axis in range(axes)]
    if any(one < 0 for one in shape):
        raise BufferError(f"message: a DLPack tensor of shape {shape}")
    size = tensor.bits * tensor.lanes // 8
    kind = KINDS[tensor.code] if tensor.lanes == 1 and tensor.code < len(KINDS) else "V"
    dtype = np.dtype(f"{kind}{size}")
    strides = ([tensor.strides[axis] * size for axis in range(axes)] if axes and tensor.strides
               else None)
    length = int(np.prod(shape, dtype=np.int64)) * size
    begin = (tensor.data or 0) + tensor.byte_offset
    raw = (ctypes.c_ubyte * length).from_address(begin) if length else bytearray()
    try:
        found = np.ndarray(shape, dtype, raw, 0, strides)
    except (TypeError, ValueError) as error:
        raise BufferError(f"message: a DLPack tensor that is not in one piece: {error}") from None
    if not (found.flags.c_contiguous or found.flags.f_contiguous):
        raise BufferError("message: a DLPack tensor that is not in one piece")
    return found
