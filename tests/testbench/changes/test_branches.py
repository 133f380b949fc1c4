"""What a cluster reads only in branches is no input while it does not take them."""

import random
import re
from pathlib import Path

import pytest
from nicbed.testbench.changes import branches as module
from nicbed.testbench.changes import rewrite
from nicbed.testbench.changes.accesses import condition_of, statement
from nicbed.testbench.changes.branches import Branches, branches
from nicbed.testbench.changes.clusters import Cluster, clusters
from nicbed.testbench.changes.model import Member, Model, NotKnown, Phase, Scope, statements

from tests.labs.rows import more

from .test_changes import run

NAMES = "abcdefgh"
MEMBERS = {name: Member(name, "IData") for name in NAMES}


def told_apart(*texts: str, most: int = module.MOST) -> Branches:
    cluster = Cluster(0, False)
    for text in texts:
        cluster.take(statement(text, Scope(MEMBERS)))
    return branches(cluster, Scope(MEMBERS), most)


def written(text: str) -> str:
    """C++ with variables of the model as letters."""
    return re.sub(r"\b([a-h])\b", r"vlSelfRef.\1", text)


@pytest.mark.parametrize(("text", "readers"), [
    ("a = b;", {}),
    ("if (a) { b = c; }", {"c": {0}}),
    ("if (a) { b = c; } else { b = d; }", {"c": {0}, "d": {1}}),
    ("if (a) { b = c; } else { d = c; }", {}),
    ("if (a) { b = c; } e = c;", {}),
    ("if (a) { b = c; } if (d) { e = c; }", {"c": {0, 1}}),
    ("if (a) { b = (b + c); }", {"c": {0}}),
    ("if (a) { if (c) { b = d; } }", {"c": {0}, "d": {1}}),
    ("if (a) { if (c) { b = d; } e = d; }", {"c": {0}, "d": {0}}),
    ("if (a) { if (c) { b = d; } else { e = d; } }", {"c": {0}, "d": {0}}),
    ("if (a) { b = 1U; } else if (c) { b = d; }", {"c": {0}, "d": {1}}),
    ("b = a; if (b) { e = c; }", {"c": {0}})])
def test_what_is_read_in_branches_only(text: str, readers: dict[str, set[int]]) -> None:
    found = told_apart(*statements(written(text)))
    assert found.readers == readers
    assert found.count == len(set().union(*readers.values()))


def test_of_many_branches_those_that_read_most_are_told_apart() -> None:
    texts = [written(text) for text in ("if (a) { b = c; }", "if (a) { d = (e + f); }")]
    assert told_apart(*texts, most=1).readers == {"e": {0}, "f": {0}}
    assert told_apart(*texts, most=0).readers == {}
    found = told_apart(written("if (a) { b = (c + d); if (c) { b = e; } }"), most=1)
    assert found.readers == {"c": {0}, "d": {0}, "e": {0}}, "the branch around it"


def drawn(chance: random.Random, deep: int = 3) -> str:
    """Statements with branches in branches, which write two variables and read those and others."""
    texts = []
    for _ in range(chance.randrange(1, 4)):
        one, other, condition = (f"vlSelfRef.{chance.choice(NAMES)}" for _ in range(3))
        target = f"vlSelfRef.{chance.choice(NAMES[:2])}"
        if deep and chance.random() < 0.6:
            text = f"if ((1U & {condition})) {{ {drawn(chance, deep - 1)} }}"
            if chance.random() < 0.5:
                text += f" else {{ {drawn(chance, deep - 1)} }}"
        else:
            text = f"{target} = ({one} + ({other} ^ {chance.randrange(99)}U));"
        texts.append(text)
    return " ".join(texts)


def execute(text: str, values: dict[str, int]) -> None:
    """Run C++ of :func:`drawn`, in which branches may note that they are taken."""
    for one in statements(text):
        names = re.sub(r"(?:vlSelfRef\.)?\b([a-z]\w*)", r"values['\1']", one)
        if not one.startswith("if"):
            exec(re.sub(r"(?<=\d)U(?:LL)?", "", names), {"values": values})
            continue
        condition, first, second = condition_of(one)
        holds = values[condition.strip("()").split("vlSelfRef.")[1]] & 1
        execute(first if holds else second, values)


@pytest.mark.parametrize("seed", range(300))
def test_what_was_not_read_does_not_matter(seed: int) -> None:
    """With other values of what only branches read that are not taken, a cluster writes the same
    and takes the same branches."""
    chance = random.Random(seed)
    found = told_apart(*statements(drawn(chance)), most=chance.choice((1, 2, 4)))
    before = {name: chance.randrange(1 << 16) for name in NAMES}
    before |= {module.heard(number): 0 for number in range(found.count)}
    after = dict(before)
    text = found.text(1, lambda one: one.text)
    execute(text, after)
    unheard = {key: chance.randrange(1 << 16) for key, numbers in found.readers.items()
               if not any(after[module.heard(number)] for number in numbers)}
    again = before | unheard
    execute(text, again)
    assert again == after | unheard


READ = "if (vlSelfRef.b) { vlSelfRef.c = vlSelfRef.words[0U]; }"


def writer_of(*writes: str) -> rewrite._Writer:
    """Of a cluster that writes a memory, and of one that reads it in a branch."""
    members = {**MEMBERS, "words": Member("words", "", memory=True)}
    phases = [Phase(1, body=list(writes)), Phase(2, body=[READ])]
    one = Model("Vtop", members, set(), set(), phases, [], {})
    found = clusters(one, {"top"})
    for cluster in found:
        cluster.always = False
    return rewrite._Writer(one, found, [{} for _ in found], False)


def test_a_write_to_a_memory_wakes_who_took_the_branch_that_reads_it() -> None:
    writer = writer_of("vlSelfRef.words[1U] = vlSelfRef.a;")
    assert "pending[0] |= ((0x2ULL & vlSelfRef.nicbed_heard[0][0])) & change;" in writer.cluster(0)
    assert "vlSelfRef.nicbed_heard[0][0] = " in writer.cluster(1)


def test_the_text_does_not_depend_on_the_order_of_a_set() -> None:
    woken = [(3, 1), (3, None), (70, 2), (4, 0), (70, 0), (70, 1)]
    writer = writer_of("vlSelfRef.words[1U] = vlSelfRef.a;")
    assert writer.wake(woken) == writer.wake(reversed(woken))


def test_a_write_of_another_form_is_not_known_beside_one_that_is() -> None:
    writer = writer_of("vlSelfRef.words[1U] = vlSelfRef.a;",
                       "while (vlSelfRef.a) { VL_ASSIGNSEL_II(32,8,vlSelfRef.b, "
                       "vlSelfRef.words[1U], vlSelfRef.c); }")
    with pytest.raises(NotKnown):
        writer.cluster(0)


@pytest.mark.parametrize("check", [more(False), True])
def test_a_branch_that_hears_nothing_is_noticed(check: bool, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """If what a taken branch reads wakes nobody, outputs differ, and a model that checks itself
    names a variable."""
    def deaf(number: int, branch: int) -> str:
        return f"(void){module.heard(branch)};"

    monkeypatch.setattr(rewrite._Writer, "hears", staticmethod(deaf))
    done = run(tmp_path, 0, check)
    assert done.returncode != 0
    assert ("was missed" if check else " in cycle ") in done.stderr
