"""The datatypes that MPI defines, as the library's, by name and by code."""

from ..data import datatypes as types
from ..data.datatypes import Datatype

__all__ = ["BY_CODE", "NULL", "PAIRS", "TYPES"]


def _named() -> dict[str, Datatype]:
    """The library's types by MPI's names. Those of Fortran have C's sizes."""
    table = {
        "BYTE": types.BYTE, "PACKED": types.PACKED, "CHAR": types.CHAR, "SIGNED_CHAR": types.INT8,
        "UNSIGNED_CHAR": types.UINT8, "SHORT": types.INT16, "UNSIGNED_SHORT": types.UINT16,
        "INT": types.INT, "UNSIGNED": types.UINT, "LONG": types.LONG, "UNSIGNED_LONG": types.ULONG,
        "FLOAT": types.FLOAT, "DOUBLE": types.DOUBLE, "LONG_DOUBLE": types.LONG_DOUBLE,
        "C_BOOL": types.BOOL, "C_FLOAT_COMPLEX": types.FLOAT_COMPLEX,
        "C_DOUBLE_COMPLEX": types.COMPLEX, "FLOAT_INT": types.FLOAT_INT,
        "DOUBLE_INT": types.DOUBLE_INT, "INT_INT": types.INT_INT, "LONG_INT": types.LONG_INT,
        "SHORT_INT": types.SHORT_INT}
    made = dict(table)
    for name, like in {
            "LONG_LONG": types.LONG_LONG, "UNSIGNED_LONG_LONG": types.ULONG_LONG,
            "WCHAR": types.WCHAR, "C_LONG_DOUBLE_COMPLEX": types.LONG_DOUBLE_COMPLEX,
            "INT8_T": types.INT8, "INT16_T": types.INT16, "INT32_T": types.INT,
            "INT64_T": types.LONG_LONG, "UINT8_T": types.UINT8, "UINT16_T": types.UINT16,
            "UINT32_T": types.UINT, "UINT64_T": types.ULONG_LONG, "AINT": types.LONG_LONG,
            "OFFSET": types.LONG_LONG, "COUNT": types.LONG_LONG, "CXX_BOOL": types.BOOL,
            "LONG_DOUBLE_INT": types.LONG_DOUBLE_INT}.items():
        made[name] = like.named(name)
    for name, other in {
            "TWOINT": "INT_INT", "UNSIGNED_INT": "UNSIGNED", "SIGNED_SHORT": "SHORT",
            "SIGNED_INT": "INT", "SIGNED_LONG": "LONG", "SIGNED_LONG_LONG": "LONG_LONG",
            "BOOL": "C_BOOL", "C_COMPLEX": "C_FLOAT_COMPLEX", "SINT8_T": "INT8_T",
            "SINT16_T": "INT16_T", "SINT32_T": "INT32_T", "SINT64_T": "INT64_T",
            "CXX_FLOAT_COMPLEX": "C_FLOAT_COMPLEX", "CXX_DOUBLE_COMPLEX": "C_DOUBLE_COMPLEX",
            "CXX_LONG_DOUBLE_COMPLEX": "C_LONG_DOUBLE_COMPLEX", "CHARACTER": "CHAR",
            "LOGICAL": "C_BOOL", "INTEGER": "INT", "REAL": "FLOAT", "DOUBLE_PRECISION": "DOUBLE",
            "COMPLEX": "C_FLOAT_COMPLEX", "DOUBLE_COMPLEX": "C_DOUBLE_COMPLEX",
            "INTEGER1": "INT8_T", "INTEGER2": "INT16_T", "INTEGER4": "INT32_T",
            "INTEGER8": "INT64_T", "REAL4": "FLOAT", "REAL8": "DOUBLE", "REAL16": "LONG_DOUBLE",
            "COMPLEX8": "C_FLOAT_COMPLEX", "COMPLEX16": "C_DOUBLE_COMPLEX", "F_INT": "INT",
            "COMPLEX32": "C_LONG_DOUBLE_COMPLEX", "F_BOOL": "C_BOOL", "F_FLOAT": "FLOAT",
            "F_DOUBLE": "DOUBLE", "F_COMPLEX": "C_FLOAT_COMPLEX",
            "F_FLOAT_COMPLEX": "C_FLOAT_COMPLEX", "F_DOUBLE_COMPLEX": "C_DOUBLE_COMPLEX"}.items():
        made[name] = made[other]
    return made


TYPES = _named()
NULL = ("LOGICAL1", "LOGICAL2", "LOGICAL4", "LOGICAL8", "LOGICAL16", "INTEGER16", "REAL2",
        "COMPLEX4", "FLOAT16_T", "FLOAT32_T", "FLOAT64_T", "BFLOAT16_T")
"""Names of types that there are not."""
PAIRS = {value: f"{value}_INT" for value in ("SHORT", "INT", "LONG", "FLOAT", "DOUBLE",
                                             "LONG_DOUBLE")}
"""The type of a value and its index, by the value's."""
BY_CODE = {"c": "CHAR", "S": "CHAR", "S1": "CHAR", "s": "CHAR", "b": "SIGNED_CHAR",
           "B": "UNSIGNED_CHAR", "h": "SHORT", "H": "UNSIGNED_SHORT", "i": "INT",
           "I": "UNSIGNED", "l": "LONG", "L": "UNSIGNED_LONG", "q": "LONG_LONG",
           "Q": "UNSIGNED_LONG_LONG", "f": "FLOAT", "d": "DOUBLE", "g": "LONG_DOUBLE",
           "?": "C_BOOL", "F": "C_FLOAT_COMPLEX", "D": "C_DOUBLE_COMPLEX",
           "G": "C_LONG_DOUBLE_COMPLEX", "Zf": "C_FLOAT_COMPLEX", "Zd": "C_DOUBLE_COMPLEX",
           "Zg": "C_LONG_DOUBLE_COMPLEX", "n": "AINT", "p": "AINT",
           "i1": "INT8_T", "i2": "INT16_T", "i4": "INT32_T", "i8": "INT64_T", "u1": "UINT8_T",
           "u2": "UINT16_T", "u4": "UINT32_T", "u8": "UINT64_T", "f4": "FLOAT", "f8": "DOUBLE",
           "c8": "C_FLOAT_COMPLEX", "c16": "C_DOUBLE_COMPLEX", "b1": "C_BOOL",
           "hi": "SHORT_INT", "ii": "INT_INT", "li": "LONG_INT", "fi": "FLOAT_INT",
           "di": "DOUBLE_INT", "gi": "LONG_DOUBLE_INT"}
"""Names by the codes of numpy and struct."""
