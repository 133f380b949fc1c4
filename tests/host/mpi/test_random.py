"""Random programs of 2 to 8 ranks against a plain model of what MPI promises, on every channel and
way, with faults on the links, and with as few credits as there can be."""

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import FAULTS, LIMIT, describe, ranks
from tests.programs.mpi_rounds import Messages, program, rounds

WAYS = {
    "via, write": ("via", {"mpi__rendezvous": "write"}),
    "via, read": ("via", {"mpi__rendezvous": "read", "mpi__derived": "segments"}),
    "via, bounce": ("via", {"mpi__rendezvous": "bounce"}),
    "kernel": ("via in the kernel", {}),
    "gm, write": ("gm", {"mpi__registration_cache": 0}),
    "gm, bounce": ("gm", {"mpi__rendezvous": "bounce"}),
}
SMALL = {"mpi__buffer_bytes": 512, "mpi__eager": 2000}
SCARCE = {"via": {"mpi__prepost": 6, "mpi__prepost_used": 6},
          "via in the kernel": {"mpi__prepost": 6, "mpi__prepost_used": 6},
          "gm": {"gm__receive_tokens": 16, "gm__send_tokens": 2}}
LOSSY = {name.replace(".", "__"): value for name, value in FAULTS.items()}


def check(way, nodes, plan, **knobs):
    channel, more_knobs = WAYS[way]
    description = describe(channel, nodes, **{**SMALL, **more_knobs, **knobs})
    found = Model(description).run(ranks(program(plan), nodes), limit=LIMIT).results
    # Each half of the ranks has the messages of its communicator.
    wanted = sum(len(one.messages) * (2 if one.comm == 2 else 1) for one in plan
                 if isinstance(one, Messages))
    assert sum(found) == wanted


def examples(count):
    return settings(max_examples=count, phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [2, more(60)])
def test_programs(way, count):
    @seed(count)
    @examples(count)
    @given(st.data())
    def run(data):
        nodes = data.draw(st.integers(2, 4 if count < 10 else 8))
        check(way, nodes, data.draw(rounds(nodes)))

    run()


@pytest.mark.parametrize("way", ["via, write", "gm, write", *map(more, (
    "via, read", "via, bounce", "kernel", "gm, bounce"))])
@pytest.mark.parametrize("count", [2, more(40)])
def test_programs_under_faults(way, count):
    @seed(count + 1)
    @examples(count)
    @given(st.data())
    def run(data):
        nodes = data.draw(st.integers(2, 4))
        check(way, nodes, data.draw(rounds(nodes)), faults__seed=data.draw(st.integers(1, 99)),
              **LOSSY)

    run()


@pytest.mark.parametrize("way", ["via, write", "gm, bounce", *map(more, (
    "via, read", "via, bounce", "kernel", "gm, write"))])
@pytest.mark.parametrize("count", [2, more(40)])
def test_programs_with_few_credits(way, count):
    @seed(count + 2)
    @examples(count)
    @given(st.data())
    def run(data):
        nodes = data.draw(st.integers(2, 5))
        check(way, nodes, data.draw(rounds(nodes)), **SCARCE[WAYS[way][0]])

    run()
