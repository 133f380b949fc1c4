"""Operations on two operands, against plain Python."""

import operator
import random

import numpy as np
import pytest
from nicbed.host.mpi import BYTE, COMPLEX, DOUBLE, INT, MpiError
from nicbed.host.mpi.data import operators
from nicbed.host.mpi.data.datatypes import BOOL, DOUBLE_INT, LONG_INT
from nicbed.host.mpi.data.operands import Operand
from nicbed.host.mpi.data.operators import OnElements, Op

PLAIN = {
    "SUM": operator.add, "PROD": operator.mul, "MIN": min, "MAX": max,
    "LAND": lambda x, y: bool(x) and bool(y), "LOR": lambda x, y: bool(x) or bool(y),
    "LXOR": lambda x, y: bool(x) != bool(y), "BAND": operator.and_, "BOR": operator.or_,
    "BXOR": operator.xor,
    "MAXLOC": lambda x, y: (max(x[0], y[0]), min(one[1] for one in (x, y)
                                                 if one[0] == max(x[0], y[0]))),
    "MINLOC": lambda x, y: (min(x[0], y[0]), min(one[1] for one in (x, y)
                                                 if one[0] == min(x[0], y[0])))}
DEFINED = {
    INT: "SUM PROD MIN MAX LAND LOR LXOR BAND BOR BXOR", DOUBLE: "SUM PROD MIN MAX LAND LOR LXOR",
    COMPLEX: "SUM PROD", BYTE: "BAND BOR BXOR", DOUBLE_INT: "MAXLOC MINLOC",
    LONG_INT: "MAXLOC MINLOC", BOOL: "SUM PROD MIN MAX LAND LOR LXOR BAND BOR BXOR"}
"""The operations of a datatype, by MPI's tables (truth values in all but one's place are bits)."""


def operand(datatype, values):
    dtype = datatype.kind.dtype
    array = np.zeros(len(values), dtype)
    array[:] = values
    flat = array.view(np.uint8)
    return Operand.of_elements(lambda first, length: flat[first:first + length], len(values),
                               datatype, "call")


def values(rng, datatype, count):
    pairs = datatype in (DOUBLE_INT, LONG_INT)
    return [(rng.randrange(3), rng.randrange(4)) if pairs else
            bool(rng.randrange(2)) if datatype is BOOL else rng.randrange(8)
            for _ in range(count)]


@pytest.mark.parametrize("datatype", DEFINED, ids=lambda one: one.name)
@pytest.mark.parametrize("name", PLAIN)
def test_each_operation_on_each_kind(name, datatype):
    rng, op = random.Random(name + datatype.name), getattr(operators, name)
    lower, higher = values(rng, datatype, 60), values(rng, datatype, 60)
    first, second = operand(datatype, lower), operand(datatype, higher)
    if name not in DEFINED[datatype].split():
        with pytest.raises(MpiError, match=f"ERR_OP: call: {name} is not defined for "
                                           f"{datatype.name}"):
            op.check(first, "call")
        op.check(operand(datatype, []), "call")
        return
    op.check(first, "call")
    for into in (first, second):
        fresh = [operand(datatype, lower), operand(datatype, higher)]
        target = fresh[into is second]
        op.combine(*fresh, target)
        wanted = [PLAIN[name](x, y) for x, y in zip(lower, higher, strict=True)]
        assert target.values.tolist() == operand(datatype, wanted).values.tolist()
        assert target is fresh[0] or fresh[0].values.tolist() == first.values.tolist()


@pytest.mark.parametrize("count", [0, 3])
def test_an_operation_of_the_program_on_elements(count):
    """It changes its second argument, of whichever the result is; the other stays as it was. The
    datatype counts from a byte that may lie before the data, and what lies between stays."""
    datatype, calls = INT.Create_hindexed([1, 1], [-4, 4]), []

    def combine(lower, result, length, of):
        calls.append((length, of))
        (one, begin), (other, at) = lower, result
        for element in range(length):
            for place in (-4, 4):
                place += element * datatype.extent
                x = one[begin + place:begin + place + 4].view(np.int32)
                y = other[at + place:at + place + 4].view(np.int32)
                y[:] = 10 * x + y

    def made(value):
        data = np.full(100, value, np.int32).view(np.uint8)
        return Operand.of_elements(lambda first, length: data[40 + first:40 + first + length],
                                   count, datatype, "call")

    for last in (False, True):
        lower, higher = made(1), made(2)
        target = higher if last else lower
        OnElements(combine, False).combine(lower, higher, target)
        other = lower if last else higher
        assert target.packed().view(np.int32).tolist() == [12] * 2 * count
        assert other.packed().view(np.int32).tolist() == [1 if last else 2] * 2 * count
    assert calls == [(count, datatype)] * 2 * bool(count)


def test_operations_are_named():
    assert repr(operators.MAX) == "Op(MAX)"
    assert repr(Op.Create(max)) == "Op(max)" and not Op.Create(max).commutes
    of_elements = INT.Create_vector(2, 1, 2)
    data = np.zeros(12, np.uint8)
    strided = Operand.of_elements(lambda first, length: data[first:first + length], 1, of_elements,
                                  "call")
    with pytest.raises(MpiError, match="MPI_ERR_OP: call: SUM is not defined for INT.vector"):
        operators.SUM.check(strided, "call")
    with pytest.raises(MpiError, match="MPI_ERR_OP: max is not defined for INT.vector"):
        Op.Create(max).combine(strided, strided, strided)
