"""What a statement of Verilator's C++ reads and writes."""

import pytest
from nicbed.testbench.changes.accesses import statement
from nicbed.testbench.changes.model import Member, NotKnown, Scope, statements
from nicbed.testbench.changes.parts import taken_apart

MEMBERS = {one.name: one for one in (
    Member("a", "CData"), Member("b", "IData"), Member("c", "IData"), Member("w", "EData", 3),
    Member("long", "EData", 78), Member("mem", "", memory=True))}
LOCALS = {"t": Member("t", "EData", 2)}
SCOPE = Scope(MEMBERS, LOCALS)


def accesses(text: str) -> tuple[set[str], list[str], set[str]]:
    found = statement(text, SCOPE)
    return found.reads, list(found.writes), found.sets


@pytest.mark.parametrize(("text", "reads", "writes", "sets"), [
    ("vlSelfRef.a = (1U & vlSelfRef.b);", {"b"}, ["a"], {"a"}),
    ("vlSelfRef.a = ((IData)(vlSelfRef.a) + vlSelfRef.b);", {"a", "b"}, ["a"], {"a"}),
    ("vlSelfRef.b = ((0xfU & vlSelfRef.b) | (0xf0U & vlSelfRef.c));", {"c"}, ["b"], set()),
    ("vlSelfRef.b = ((0xfU & vlSelfRef.c) | (0xf0U & vlSelfRef.b));", {"b", "c"}, ["b"], {"b"}),
    ("if (vlSelfRef.a) { vlSelfRef.b = 1U; } else { vlSelfRef.c = vlSelfRef.b; }",
     {"a", "b"}, ["b", "c"], set()),
    ("if (vlSelfRef.a) { vlSelfRef.b = 1U; } else if (vlSelfRef.c) { vlSelfRef.b = 2U; }",
     {"a", "c"}, ["b"], set()),
    ("vlSelfRef.w[1U] = (vlSelfRef.w[0U] ^ vlSelfRef.b);", {"w[0U]", "b"}, ["w[1U]"], {"w[1U]"}),
    ("vlSelfRef.w[vlSelfRef.a] = vlSelfRef.b;", {"a", "b"}, ["w[0U]", "w[1U]", "w[2U]"], set()),
    ("vlSelfRef.b = vlSelfRef.w[vlSelfRef.a];", {"a", "w[0U]", "w[1U]", "w[2U]"}, ["b"], {"b"}),
    ("vlSelfRef.long[3U] = vlSelfRef.b;", {"b"}, ["long"], set()),
    ("vlSelfRef.mem[vlSelfRef.a] = vlSelfRef.b;", {"a", "b"}, ["mem"], set()),
    ("vlSelfRef.b = vlSelfRef.mem[vlSelfRef.a][2U];", {"a", "mem"}, ["b"], {"b"}),
    ("VL_SHIFTL_WWI(94,94,32, vlSelfRef.w, t, vlSelfRef.b);", {"b"}, ["w[0U]", "w[1U]", "w[2U]"],
     {"w[0U]", "w[1U]", "w[2U]"}),
    ("vlSelfRef.a = VL_LTS_III(32, vlSelfRef.b, vlSelfRef.c);", {"b", "c"}, ["a"], {"a"}),
    ("VL_ZERO_W(94, vlSelfRef.w);", set(), ["w[0U]", "w[1U]", "w[2U]"],
     {"w[0U]", "w[1U]", "w[2U]"}),
    ("VL_ASSIGNSEL_WI(94,8,(0x1fU & vlSelfRef.a), vlSelfRef.w, vlSelfRef.b);", {"a", "b"},
     ["w[0U]", "w[1U]", "w[2U]"], set()),
    ("VL_ASSIGNSEL_WQ(94,40,3U, vlSelfRef.w, VL_SHIFTL_QQI(40,40,3, vlSelfRef.c, vlSelfRef.a));",
     {"a", "c"}, ["w[0U]", "w[1U]", "w[2U]"], set()),
    ("VL_ASSIGNSEL_II(32,8,vlSelfRef.a, vlSelfRef.w[1U], vlSelfRef.c);", {"a", "c"}, ["w[1U]"],
     set()),
    ("VL_ASSIGNBIT_WO(vlSelfRef.a, vlSelfRef.w);", {"a"}, ["w[0U]", "w[1U]", "w[2U]"], set()),
    ("VL_ASSIGNBIT_II(vlSelfRef.a, vlSelfRef.b, vlSelfRef.c);", {"a", "c"}, ["b"], set()),
])
def test_accesses(text: str, reads: set[str], writes: list[str], sets: set[str]) -> None:
    assert accesses(text) == (reads, writes, sets)


def test_a_local_that_is_set_first_is_no_input() -> None:
    found = statement("if (vlSelfRef.a) { t[0U] = vlSelfRef.b; vlSelfRef.c = t[0U]; }", SCOPE)
    assert (found.reads, list(found.writes), found.locals) == ({"a", "b"}, ["c"], {"t"})


def test_an_external_call_may_change_all_its_arguments() -> None:
    found = statement("M___024root____Vdpiimwrap_read_TOP(vlSelfRef.a, vlSelfRef.b);", SCOPE)
    assert found.acts
    assert (found.reads, set(found.writes), found.sets) == ({"a", "b"}, {"a", "b"}, set())


def test_an_external_call_changes_only_its_reference_arguments() -> None:
    scope = Scope(MEMBERS, LOCALS, {"M___024root____Vdpiimwrap_read_TOP": [
        "CData/*7:0*/ node", "IData/*31:0*/ address", "QData/*63:0*/ &answer"]})
    found = statement("if (vlSelfRef.a) { M___024root____Vdpiimwrap_read_TOP((7U & vlSelfRef.b), "
                      "vlSelfRef.w[1U], vlSelfRef.c); }", scope)
    assert found.acts
    assert (found.reads, set(found.writes), found.sets) == ({"a", "b", "c", "w[1U]"}, {"c"}, set())
    with pytest.raises(NotKnown):
        statement("M___024root____Vdpiimwrap_read_TOP(vlSelfRef.a, vlSelfRef.c);", scope)


@pytest.mark.parametrize("text", [
    "vlSelfRef.unknown = 1U;",
    "vlSelfRef.a = vlSelfRef.unknown;",
    "vlSelfRef.a = VL_STRANGE_XYZ(vlSelfRef.b);",
    "vlSelfRef.a = VL_SHIFTL_WWI(94,94,32, vlSelfRef.w, vlSelfRef.w, 3U)[0U];",
    "strange(vlSelfRef.a);",
    "vlSelfRef.a++;",
    "vlSelfRef.b = VL_RANDOM_I();",
    "vlSelfRef.b = VL_TIME_Q();",
    "vlSelfRef.b = VL_FGETC_I(vlSelfRef.a);",
    "VL_STRANGE_WWI(94,94,32, vlSelfRef.w, t, vlSelfRef.b);",
    "VL_SELASSIGN_WW(94,8, vlSelfRef.w, t, vlSelfRef.a);",
    "VL_ZERO_W(64, 5U);",
    "VL_ZERO_W(64);",
    "VL_ZERO_W(64, vlSelfRef.mem[vlSelfRef.a]);",
    "VL_ZERO_W(64, vlSelfRef.w[1U]);",
    "VL_ASSIGNSEL_WI(94,8,vlSelfRef.a, vlSelfRef.mem[1U], vlSelfRef.b);",
    "VL_ASSIGNSEL_II(32,8,vlSelfRef.a, vlSelfRef.w[vlSelfRef.a], vlSelfRef.b);",
    "vlSelfRef.a = vlSelfRef.w[3U];",
    "vlSelfRef.w[3U] = vlSelfRef.a;",
])
def test_other_forms_are_not_known(text: str) -> None:
    with pytest.raises(NotKnown):
        statement(text, SCOPE)


def test_statements() -> None:
    body = "a = (b); if (c) { d; e; }\n else { f; }\n while ((g)) { h; }\n do { i; } while (j); k;"
    assert statements(body) == ["a = (b);", "if (c) { d; e; }\n else { f; }", "while ((g)) { h; }",
                                "do { i; } while (j);", "k;"]
    with pytest.raises(NotKnown):
        statements("a = b; c")


def test_a_reset_is_taken_apart_by_the_registers() -> None:
    registers = {f"r{number}": Member(f"r{number}", "IData") for number in range(20)}
    reset = "".join(f"vlSelfRef.r{number} = 0U;" for number in range(20))
    following = "".join(f"vlSelfRef.r{number} = (vlSelfRef.b + {number}U);" for number in range(18))
    following += "vlSelfRef.r18 = vlSelfRef.r19; vlSelfRef.r19 = vlSelfRef.b;"
    parts = taken_apart(f"if (vlSelfRef.a) {{ {reset} }} else {{ {following} }}",
                        Scope({**MEMBERS, **registers}))
    found = [set(statement(part, Scope({**MEMBERS, **registers})).writes) for part in parts]
    # One reads what the other writes, so they keep their order.
    assert found == [*({f"r{number}"} for number in range(18)), {"r18", "r19"}]
    # The condition must not change between the parts.
    own = f"if (vlSelfRef.r3) {{ {reset} }} else {{ {following} }}"
    assert taken_apart(own, Scope({**MEMBERS, **registers})) == [own]
