"""A variable is of a cluster's function only where nobody needs what it was before."""

import pytest
from nicbed.testbench.changes import clusters as module
from nicbed.testbench.changes import rewrite
from nicbed.testbench.changes.clusters import clusters
from nicbed.testbench.changes.model import Member, Model, Phase
from nicbed.testbench.changes.own import own_variables

TEMPORARY, OTHER = (f"top__DOT__engine__DOT__{name}" for name in "to")
MEMBERS = {**{name: Member(name, "IData") for name in (TEMPORARY, OTHER, "port")},
           "wide": Member("wide", "EData", 3), "words": Member("words", "", memory=True)}


@pytest.fixture(autouse=True)
def _a_cluster_a_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SIZE", 1)


def own(*bodies: str, elsewhere: tuple[str, ...] = ()) -> list[set[str]]:
    """Of each phase's clusters; a body is one statement."""
    phases = [Phase(mask, body=[body]) for mask, body in enumerate(bodies, 1)]
    one = Model("Vtop", MEMBERS, {"port"}, set(), phases, [], {})
    return [set(names) for names in own_variables(one, clusters(one, {"engine"}), elsewhere)]


def test_a_variable_that_is_set_first_becomes_local() -> None:
    assert own(f"vlSelfRef.{TEMPORARY} = (3U + vlSelfRef.port);") == [{TEMPORARY}]


def test_each_cluster_has_its_own() -> None:
    one = f"vlSelfRef.{TEMPORARY} = vlSelfRef.port;"
    assert own(one, one) == [{TEMPORARY}, {TEMPORARY}]


def test_copies_of_a_variable_in_two_clusters_wake_neither() -> None:
    body = f"vlSelfRef.{TEMPORARY} = vlSelfRef.port;"
    one = Model("Vtop", MEMBERS, {"port"}, set(), [Phase(mask, body=[body]) for mask in (1, 2)],
                [], {})
    found = clusters(one, {"engine"})
    writer = rewrite._Writer(one, found, own_variables(one, found, ()), False)
    assert not any("before" in writer.cluster(number) for number in range(2))


def test_a_variable_that_another_cluster_reads_stays() -> None:
    found = own(f"vlSelfRef.{TEMPORARY} = vlSelfRef.port;",
                f"vlSelfRef.{OTHER} = vlSelfRef.{TEMPORARY};")
    assert found == [set(), {OTHER}]


def test_what_is_set_only_sometimes_is_kept_if_it_is_read() -> None:
    sometimes = f"if ((1U & vlSelfRef.port)) {{ vlSelfRef.{TEMPORARY} = 1U; }}"
    assert own(sometimes) == [{TEMPORARY}]
    assert own(sometimes, f"vlSelfRef.{OTHER} = vlSelfRef.{TEMPORARY};") == [set(), {OTHER}]


def test_ports_memories_and_what_is_used_elsewhere_stay() -> None:
    assert own("vlSelfRef.port = 1U;") == [set()]
    assert own("vlSelfRef.words[1U] = 1U;") == [set()]
    one = f"vlSelfRef.{TEMPORARY} = vlSelfRef.port;"
    assert own(one, elsewhere=(TEMPORARY,)) == [set()]


def test_of_a_wide_one_each_word_counts() -> None:
    first = "vlSelfRef.wide[0U] = vlSelfRef.port;"
    assert own(first) == [{"wide"}]
    assert own(first, f"vlSelfRef.{OTHER} = vlSelfRef.wide[1U];") == [set(), {OTHER}]
