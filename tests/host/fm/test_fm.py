"""Fast Messages on the functional target, over the real firmware: a test a promise."""

import pytest

from tests.models.target import Model
from tests.programs import fm as scenarios
from tests.programs import junk_slots
from tests.programs.am import Scenario, describe

COHERENT = {"nic.attachment": "memory_bus"}


def run(scenario: Scenario) -> None:
    model = Model(describe(scenario.structure, scenario.settings))
    scenario.check(model.run(scenario.programs, limit=1 << 28).results)


@pytest.mark.parametrize("structure", [{}, COHERENT])
def test_four_words_there_and_back(structure):
    run(scenarios.four_words(structure))


@pytest.mark.parametrize("structure", [{}, COHERENT])
def test_frames_of_every_size_and_alignment(structure):
    run(scenarios.frames(structure, copies=1))


@pytest.mark.parametrize("settings", [{}, {"processor.doorbells": "words"}])
def test_each_message_is_handled_once_in_order_and_in_extract(settings):
    run(scenarios.all_to_all(30, settings=settings))


def test_small_rings():
    """A ring that has room for one packet a node; a doorbell queue of four."""
    run(scenarios.all_to_all(20, nodes=2, structure={"nic.receive_ring": 4,
                                                     "processor.doorbell_queue": 4}))


def test_what_has_no_room_returns_and_is_delivered_in_the_end():
    run(scenarios.returns())


def test_a_sender_goes_on_while_its_receiver_computes():
    run(scenarios.decoupled())


def test_own_node():
    run(scenarios.itself())


def test_misuse_is_refused_where_it_happens():
    run(scenarios.misuse())


@pytest.mark.parametrize("rate", ["drop", "corrupt", "duplicate"])
def test_a_network_that_is_not_reliable(rate):
    run(scenarios.lossy(rate))


def test_nonsense_is_counted_and_dropped():
    model = Model(describe(scenarios.CORE))
    junk_slots.check(model.run(junk_slots.programs("fm", 150, 3), limit=1 << 26).results)
