"""Clusters do what their statements did in the order in which Verilator had them."""

import random
import re
from pathlib import Path

import pytest
from nicbed.testbench.changes import clusters as module
from nicbed.testbench.changes import rewrite
from nicbed.testbench.changes.clusters import clusters
from nicbed.testbench.changes.model import Function, Member, Model, Phase

VARIABLES = [f"top__DOT__engine__DOT__v{number}" for number in range(12)]
MEMBERS = {name: Member(name, "IData") for name in VARIABLES}


def model(*bodies: list[str]) -> Model:
    return Model("Vtop", MEMBERS, set(), set(), [Phase(mask, body=body)
                                          for mask, body in enumerate(bodies, 1)], [], {})


def writer_of(one: Model) -> rewrite._Writer:
    found = clusters(one, {"engine"})
    return rewrite._Writer(one, found, [{} for _ in found], False)


def drawn(chance: random.Random, count: int) -> list[str]:
    """Statements that read and write the same few variables."""
    found = []
    for _ in range(count):
        target, one, other, condition = (f"vlSelfRef.{chance.choice(VARIABLES)}" for _ in range(4))
        text = f"{target} = ({one} + ({other} ^ {chance.randrange(99)}U));"
        found.append(f"if ((1U & {condition})) {{ {text} }}" if chance.random() < 0.3 else text)
    return found


def execute(texts: list[str], values: dict[str, int]) -> dict[str, int]:
    values = dict(values)
    for text in texts:
        text = re.sub(r"vlSelfRef\.(\w+)", r"values['\1']", text).replace("U", "")
        condition = re.fullmatch(r"if \((.*)\) \{ (.*) \}", text)
        if not condition or eval(condition[1]):
            target, value = (condition[2] if condition else text).rstrip(";").split(" = ")
            values[target[8:-2]] = eval(value)
    return values


@pytest.mark.parametrize("seed", range(40))
def test_the_order_does_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(module, "SIZE", chance.choice((1, 8, 30)))
    body = drawn(chance, 14)
    values = {name: chance.randrange(1000) for name in VARIABLES}
    found = clusters(model(body), {"engine"})
    after = [one.text for cluster in found for one in cluster.statements]
    assert sorted(after) == sorted(body)
    assert execute(after, values) == execute(body, values)
    # Two clusters with the same variable would undo each other's writes when one is skipped.
    written = [name for cluster in found for name in cluster.writes]
    assert len(written) == len(set(written))
    for cluster in found:
        for name in set(VARIABLES) - cluster.reads - cluster.writes.keys():
            texts = [one.text for one in cluster.statements]
            other = {**values, name: values[name] + 1}
            assert execute(texts, other) == {**execute(texts, values), name: other[name]}


def test_only_what_is_of_the_block_may_rest() -> None:
    inside, outside = "vlSelfRef.top__DOT__engine__DOT__v0 = 1U;", "vlSelfRef.out = 1U;"
    from_inside = "vlSelfRef.out2 = vlSelfRef.top__DOT__engine__DOT__v1;"
    acts = "M____Vdpiimwrap_f(vlSelfRef.top__DOT__engine__DOT__v2);"
    members = {**MEMBERS, **{name: Member(name, "IData") for name in ("out", "out2")}}
    one = Model("Vtop", members, set(), set(),
                [Phase(1, body=[inside, outside, from_inside, acts])], [], {})
    assert {part.text: cluster.always for cluster in clusters(one, {"engine"})
            for part in cluster.statements} == {
        inside: False, outside: True, from_inside: False, acts: True}


def test_writers_behind_different_triggers_wake_each_other() -> None:
    """A variable that one of them changed is no longer what the other wrote."""
    first, second, third = VARIABLES[:3]
    one = model([f"vlSelfRef.{first} = vlSelfRef.{second};"],
                [f"vlSelfRef.{first} = vlSelfRef.{third};"])
    writer = writer_of(one)
    assert writer.readers[first] == {0, 1}


@pytest.mark.parametrize("at_once", [False, True])
def test_inputs_that_only_registers_read_are_noticed(at_once: bool) -> None:
    """In each evaluation if Verilator has a function for inputs, else when there is a clock."""
    ico = [Function("Vtop___024root___ico_0", Path("file"), (0, 0), {}, [])] if at_once else []
    members = {**MEMBERS, "d": Member("d", "IData")}
    body = [f"vlSelfRef.{VARIABLES[0]} = vlSelfRef.d;"]
    one = Model("Vtop", members, {"d"}, {"d"}, [Phase(1, body=body)], ico, {})
    before, after = writer_of(one).evaluation().split(
        "void Vtop___024root___eval_nba(")
    assert ("nicbed_last_d = " in before, "nicbed_last_d = " in after) == (at_once, not at_once)
    # What a trigger is for runs behind it alone.
    runs = "Vtop_cluster_0(vlSelf);"
    assert runs not in before
    parts = ["if (triggers & ", runs]
    parts = parts if at_once else ["nicbed_last_d = ", *parts]
    assert parts == sorted(parts, key=after.index)
