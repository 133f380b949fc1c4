"""Datatypes: bounds, basic elements, contents, arrays, and MPI's own representation."""

import struct

import numpy as np
import pytest
from nicbed.host.mpi import BYTE, COMPLEX, DOUBLE, FLOAT_COMPLEX, INT, MpiError, Status
from nicbed.host.mpi.data.datatypes import (
    BLOCK,
    CYCLIC,
    DEFAULT,
    DOUBLE_INT,
    INT8,
    INT16,
    LB,
    LONG,
    LONG_DOUBLE,
    LONG_DOUBLE_COMPLEX,
    NONE,
    SHORT_INT,
    UB,
    Datatype,
    darray,
    f90_real,
    from_external,
    match_size,
    subarray,
    to_external,
)


def bytes_of(datatype, count=1):
    """The bytes of a plain expansion of its blocks, in order."""
    return [at + byte for at, length in datatype.pieces(count) for byte in range(length)]


def plain(places, of):
    """The same for elements at ``places``."""
    return [place + at for place in places for at in bytes_of(of)]


OLD = [INT, DOUBLE_INT, INT.Create_vector(2, 1, 3), Datatype.Create_struct(
    [1, 2], [0, 8], [DOUBLE, INT16]), INT.Create_resized(-4, 12), INT.Create_hindexed([1], [-8])]


@pytest.mark.parametrize("seed", range(30))
def test_types_against_a_plain_expansion(seed):
    """Bytes, bounds, true bounds and elements of types made of types, at random."""
    random = np.random.default_rng(seed)
    old = OLD[seed % len(OLD)]
    for _ in range(3):
        extent, count = old.extent, int(random.integers(0, 4))
        lengths = random.integers(0, 3, count).tolist()
        stride = int(random.integers(-4, 5))
        at = random.integers(-20, 20, count).tolist()
        how = random.integers(0, 7)
        if how == 0:
            made, blocks = old.Create_contiguous(count), [(0, count)]
        elif how == 1:
            made = old.Create_vector(count, 2, stride)
            blocks = [(one * stride * extent, 2) for one in range(count)]
        elif how == 2:
            made = old.Create_hvector(count, 1, 8 * stride)
            blocks = [(8 * one * stride, 1) for one in range(count)]
        elif how == 3:
            made = old.Create_indexed(lengths, at)
            blocks = [(place * extent, length) for place, length in zip(at, lengths, strict=True)]
        elif how == 4:
            made = old.Create_hindexed_block(2, [4 * one for one in at])
            blocks = [(4 * place, 2) for place in at]
        elif how == 5:
            made = old.Create_indexed_block(2, at)
            blocks = [(place * extent, 2) for place in at]
        else:
            made = old.Create_hindexed(lengths, [4 * one for one in at])
            blocks = [(4 * place, length) for place, length in zip(at, lengths, strict=True)]
        places = [place + one * extent for place, length in blocks for one in range(length)]
        wanted = plain(places, old)
        assert bytes_of(made) == wanted and made.size == len(wanted)
        assert made.basic == len(places) * old.basic and made.dtype == old.dtype
        if places:
            low = min(places) + old.lower
            assert made.Get_extent() == (low, max(places) + old.lower + extent - low)
        else:
            assert made.Get_extent() == (0, 0)
        if not wanted:
            assert made.true == made.span(2) == (0, 0)
        else:
            assert made.true == (min(wanted), max(wanted) + 1 - min(wanted))
            assert made.span(2) == (min(bytes_of(made, 2)), max(bytes_of(made, 2)) + 1)
        old = made if made.size else old


def test_a_large_type_takes_no_memory():
    made = INT.Create_vector(1 << 40, 1, 2).Create_contiguous(1 << 10)
    assert made.size == 4 << 50 and made.true == (0, (1 << 10) * ((8 << 40) - 4))
    assert not made.contiguous
    whole = INT.Create_contiguous(1 << 40).Create_vector(4, 1, 1)
    assert whole.pieces(2) == [(0, 32 << 40)]


def test_blocks_in_another_order():
    """Of an element and of several: they are sent as they were given, and are never joined."""
    made = INT.Create_indexed([1, 1], [1, 0])
    assert not made.contiguous and made.pieces(2) == [(4, 4), (0, 4), (12, 4), (8, 4)]
    twice = INT.Create_indexed([1, 1], [0, 0])
    assert twice.size == 8 and twice.extent == 4 and twice.pieces(1) == [(0, 4), (0, 4)]
    assert INT.Create_vector(3, 1, 0).pieces(1) == [(0, 4)] * 3
    behind = INT.Create_hindexed([1], [4])
    assert behind.contiguous and behind.pieces(3) == [(4, 12)]


@pytest.mark.parametrize("of, dtype", [
    ([INT, INT], np.int32), ([INT, DOUBLE], None), ([INT, INT.Create_contiguous(0), INT], np.int32),
    ([INT, DOUBLE.Create_contiguous(0)], np.int32)])
def test_elements_of_a_struct(of, dtype):
    """Of one kind alone they are of a type, by which the two ends of a message are compared. The
    extent is rounded up to what the largest of them is aligned to, in C."""
    made = Datatype.Create_struct([1] * len(of), [8 * at for at in range(len(of))], of)
    assert made.dtype == dtype
    made = Datatype.Create_struct([1, 1, 1], [0, 8, 10], [DOUBLE, INT16, INT8])
    assert made.Get_extent() == (0, 16) and made.Create_contiguous(2).true == (0, 27)


@pytest.mark.parametrize("call, text", [
    (lambda: INT.Create_indexed([1, 2], [0]), "an indexed type of 2 lengths and 1 displacements"),
    (lambda: INT.Create_hindexed([1], []), "an indexed type of 1 lengths and 0 displacements"),
    (lambda: Datatype.Create_struct([1], [0, 4], [INT]),
     "a struct of 1 lengths, 2 displacements and 1 types"),
    (lambda: INT.Create_vector(2, -1, 3), "count -1: must not be negative"),
    (lambda: INT.Create_contiguous(-2), "count -2: must not be negative")])
def test_wrong_datatypes_are_refused(call, text):
    with pytest.raises(MpiError) as found:
        call()
    assert str(found.value).endswith(f": {text}")


def test_marks_of_bounds():
    """As MPI 1.1 has them in section 3.12.3: they are those of types made of the type, too."""
    first = Datatype.Create_struct([1, 1, 1], [-3, 0, 6], [LB, INT, UB])
    assert first.Get_extent() == (-3, 9)
    assert first.Create_contiguous(2).Get_extent() == (-3, 18)
    assert Datatype.Create_struct([1, 1], [0, 20], [first, INT]).Get_extent() == (-3, 9)
    assert Datatype.Create_struct([1, 1], [0, 8], [DOUBLE, UB]).Get_extent() == (0, 8)
    assert Datatype.Create_struct([1, 1], [8, 0], [INT, LB]).Get_extent() == (0, 12)
    assert Datatype.Create_struct([1, 0], [0, 100], [INT, UB]).Get_extent() == (0, 4)
    assert Datatype.Create_struct([1], [10], [LB]).Get_extent() == (10, -10)
    assert Datatype.Create_struct([1], [10], [UB]).Get_extent() == (0, 10)
    assert Datatype.Create_struct([1, 1], [0, 8], [INT, LB]).Get_extent() == (8, -4)
    given = INT.Create_resized(0, 4)
    assert Datatype.Create_struct([1, 1], [0, 8], [DOUBLE, given]).Get_extent() == (8, 4)


def test_blocks_of_nothing():
    empty = INT.Create_contiguous(0)
    made = Datatype.Create_struct([0, 2, 1, 0], [64, 4, 12, -64], [DOUBLE, INT, empty, INT8])
    assert made.Get_extent() == (4, 8) and made.pieces(1) == [(4, 8)] and made.basic == 2
    nothing = Datatype.Create_struct([], [], [])
    assert nothing.Get_extent() == (0, 0) and nothing.true == (0, 0) and nothing.span(3) == (0, 0)
    assert INT.span(0) == (0, 0) and empty.span(4) == (0, 0)
    assert empty.Create_vector(3, 2, 7).pieces(5) == []
    behind = empty.Create_resized(8, 24).Create_hvector(2, 1, 40)
    assert behind.Get_extent() == (8, 64) and behind.true == behind.span(2) == (0, 0)


@pytest.mark.parametrize("datatype, of_bytes", [
    (SHORT_INT, {0: 0, 2: 1, 6: 2, 8: 3, 5: None, 12: 4}),
    (DOUBLE_INT, {8: 1, 12: 2, 20: 3, 24: 4, 10: None}),
    (Datatype.Create_struct([2, 3], [0, 8], [INT, INT8]).Create_contiguous(2),
     {4: 1, 8: 2, 9: 3, 11: 5, 15: 6, 22: 10, 13: None, 26: 11}),
    (INT.Create_contiguous(1 << 40), {8: 2, 7: None}),
    (INT.Create_contiguous(0), {0: 0, 1: None}),
])
def test_elements_of_what_came(datatype, of_bytes):
    for length, wanted in of_bytes.items():
        status = Status(count=length)
        assert status.Get_elements(datatype) == (-32766 if wanted is None else wanted)
        if wanted is not None:
            status.Set_elements(datatype, wanted)
            assert status.count == length
    assert Status(count=12).Get_count(SHORT_INT) == 2 and DOUBLE_INT.size == 12


@pytest.mark.parametrize("fortran", [False, True])
def test_subarrays(fortran):
    made = subarray(INT16, [4, 5, 6], [2, 3, 1], [1, 0, 4], 0, fortran=fortran)
    order = "F" if fortran else "C"
    numbers = np.arange(120).reshape(4, 5, 6, order=order)[1:3, 0:3, 4:5]
    wanted = numbers.reshape(-1, order=order)
    assert bytes_of(made)[::2] == (2 * wanted).tolist() and made.Get_extent() == (0, 240)
    with pytest.raises(MpiError, match="ERR_ARG: a subarray of 2 elements from 3 on, of 4"):
        subarray(INT16, [4], [2], [3], 0, fortran=fortran)


@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("ways", [
    ((BLOCK, DEFAULT), (CYCLIC, DEFAULT)), ((CYCLIC, 2), (BLOCK, 5)), ((NONE, DEFAULT),
                                                                      (CYCLIC, 3))])
def test_divided_arrays(ways, fortran):
    """Each process has its own elements, and all together have each once."""
    sizes, grid = (7, 9), (1 if ways[0][0] == NONE else 2, 3)
    found = []
    for rank in range(grid[0] * grid[1]):
        made = darray(INT8, grid[0] * grid[1], rank, sizes, [how for how, _ in ways],
                      [block for _, block in ways], grid, 0, fortran=fortran)
        assert made.Get_extent() == (0, 63)
        owned = []
        for axis, (how, block) in enumerate(ways):
            place = (rank // grid[1], rank % grid[1])[axis]
            if block == DEFAULT:
                block = -(-sizes[axis] // grid[axis]) if how == BLOCK else 1
            owned.append([one for one in range(sizes[axis])
                          if how == NONE or one // block % grid[axis] == place])
        strides = (1, sizes[0]) if fortran else (sizes[1], 1)
        wanted = sorted(strides[0] * first + strides[1] * second
                        for first in owned[0] for second in owned[1])
        assert bytes_of(made) == wanted
        found += wanted
    assert sorted(found) == list(range(63))


def test_how_a_type_was_made():
    made = Datatype.Create_struct(np.array([1, 2]), [0, 16], [DOUBLE, INT])
    assert made.origin.how == "STRUCT" and made.origin.types == (DOUBLE, INT)
    assert (made.origin.integers, made.origin.addresses) == ([2, 1, 2], [0, 16])
    assert INT.origin is None and made.Dup().origin.types == (made,)
    assert f90_real(6, 30) is f90_real(6, 30) and f90_real(6, 30).origin.integers == [6, 30]
    assert [match_size(2, 8), match_size(1, 4)] == ["REAL8", "INTEGER4"]
    with pytest.raises(MpiError, match="ERR_ARG"):
        match_size(1, 3)


def test_external():
    made = Datatype.Create_struct([1, 2, 1], [0, 8, 16], [DOUBLE, INT16, LONG])
    data = np.frombuffer(struct.pack("=d2hq", 1.5, -2, 300, -7), np.uint8)
    out = to_external(made.signature, data)
    assert bytes(out) == struct.pack(">d2hi", 1.5, -2, 300, -7)
    assert bytes(from_external(made.signature, out)) == bytes(data)
    assert bytes(to_external(BYTE.signature.times(3), np.arange(3, dtype=np.uint8))) == b"\0\1\2"
    values = np.array([0, 1, -2.5, np.inf, np.longdouble("1e4000"), 1 / 3],
                      np.longdouble)
    signature = LONG_DOUBLE.signature.times(len(values))
    quad = to_external(signature, values.view(np.uint8))
    assert bytes(quad[16:32]) == b"\x3f\xff" + bytes(14)
    assert np.array_equal(from_external(signature, quad).view(np.longdouble), values)


def test_external_of_types_in_types():
    """Runs of types that have several kinds, of one type that has one, and of one that has one
    such."""
    mixed = Datatype.Create_struct([1, 1], [0, 4], [INT, INT16])
    pair, twice = mixed.Create_contiguous(2), INT.Create_vector(2, 1, 3)
    made = Datatype.Create_struct([1, 2, 1, 2], [0, 32, 64, 96], [pair, pair, twice, INT16])
    form = "ih" * 2 + "ih" * 4 + "ii" + "hh"
    values = list(range(-3, len(form) - 3))
    data = np.frombuffer(struct.pack("=" + form, *values), np.uint8)
    assert made.size == len(data)
    out = to_external(made.signature, data)
    assert struct.unpack(">" + form, bytes(out)) == tuple(values)
    assert bytes(from_external(made.signature, out)) == bytes(data)


def test_external_of_complex_numbers():
    single, double = np.array([1.5 - 2j, 3j], np.complex64), np.array([-0.25 + 1j])
    made = Datatype.Create_struct([2, 1], [0, 16], [FLOAT_COMPLEX, COMPLEX])
    data = np.concatenate((single.view(np.uint8), double.view(np.uint8)))
    out = to_external(made.signature, data)
    assert bytes(out) == struct.pack(">4f2d", 1.5, -2, 0, 3, -0.25, 1)
    assert bytes(from_external(made.signature, out)) == bytes(data)
    long = np.array([np.longdouble(1) / 3 + 2j], np.clongdouble)
    signature = LONG_DOUBLE_COMPLEX.signature
    quads = to_external(signature, long.view(np.uint8))
    parts = LONG_DOUBLE.signature.times(2)
    assert bytes(quads) == bytes(to_external(parts, long.view(np.uint8))) and len(quads) == 32
    assert np.array_equal(from_external(signature, quads).view(np.clongdouble), long)


@pytest.mark.parametrize("call, text", [
    (lambda: subarray(INT, [4, 5], [2], [0, 0], 0, fortran=False),
     "lists for the dimensions are of different lengths"),
    (lambda: subarray(INT, [4], [2], [0, 0], 0, fortran=False), "lists for the dimensions"),
    (lambda: subarray(INT, [4], [0], [0], 0, fortran=False), "a subarray of 0 elements from 0"),
    (lambda: darray(INT, 2, 0, [4, 4], [BLOCK], [DEFAULT], [2], 0, fortran=False),
     "lists for the dimensions"),
    (lambda: darray(INT, 2, 2, [4], [BLOCK], [DEFAULT], [2], 0, fortran=False),
     "rank 2 of 2, in a grid of 2"),
    (lambda: darray(INT, 2, -1, [4], [BLOCK], [DEFAULT], [2], 0, fortran=False), "rank -1 of 2"),
    (lambda: darray(INT, 3, 0, [4], [BLOCK], [DEFAULT], [2], 0, fortran=False),
     "rank 0 of 3, in a grid of 2"),
    (lambda: darray(INT, 2, 0, [4], [7], [DEFAULT], [2], 0, fortran=False), "7 is no distribution"),
    (lambda: darray(INT, 2, 0, [4], [NONE], [DEFAULT], [2], 0, fortran=False),
     "a dimension that is not divided, and 2 processes"),
    (lambda: darray(INT, 2, 0, [5], [BLOCK], [2], [2], 0, fortran=False),
     "blocks of 2, for 5 elements and 2 processes"),
    (lambda: darray(INT, 2, 0, [5], [CYCLIC], [0], [2], 0, fortran=False), "blocks of 0, for 5")])
def test_wrong_parts_of_arrays_are_refused(call, text):
    with pytest.raises(MpiError, match=f"MPI_ERR_ARG: {text}"):
        call()


def test_blocks_that_divide_an_array_evenly():
    """A block of the least length is enough; a process may have nothing."""
    for rank in range(2):
        made = darray(INT8, 2, rank, [4], [BLOCK], [2], [2], 0, fortran=False)
        assert made.pieces(1) == [(2 * rank, 2)]
    nothing = darray(INT8, 3, 2, [2], [BLOCK], [DEFAULT], [3], 0, fortran=False)
    assert nothing.pieces(1) == [] and nothing.Get_extent() == (0, 2)
