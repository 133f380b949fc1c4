"""Active Messages end to end on the model target: every call, windows, faults, lost peers."""

import numpy as np
import pytest
from nicbed.host.am import Gam
from nicbed.layouts.description import Description

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs import am as scenarios
from tests.programs.am import FAULTY, describe, run_on_model


def test_requests_and_replies_of_all_sizes():
    run_on_model(scenarios.echo_words())


@pytest.mark.parametrize("reply", [True, False])
def test_every_handler_once_in_order_sequence_numbers_wrapping(reply):
    run_on_model(scenarios.in_order(700, reply=reply))


@pytest.mark.parametrize("window", [1, 2, 75, 120])
def test_windows(window):
    run_on_model(scenarios.in_order(300, window=window))


@pytest.mark.parametrize("replies", [40, 75])
def test_reply_window_is_larger_than_the_request_window(replies):
    """So a reply never waits, and two full windows cannot deadlock."""
    with pytest.raises(ValueError, match=f"am.reply_window = {replies}: must be larger"):
        describe({"am.request_window": 75, "am.reply_window": replies})
    assert describe({"am.request_window": 75, "am.reply_window": 76})


@pytest.mark.parametrize("words", [2, 3, 4])
def test_words_arrive_in_order(words):
    run_on_model(scenarios.in_order(50, words=words))


@pytest.mark.parametrize("others", [(), (5,), (5, 6), (5, 6, 7)])
@pytest.mark.parametrize("word", [
    0, 2**32 - 1, 2**32, -1, np.int32(7), np.int32(-1), np.uint32(2**32 - 1), np.int64(2**32),
    np.uint8(9)])
def test_words_are_checked_alike_however_many(word, others):
    """A single one goes another way; in requests, as the last, and in replies, as the first."""
    good = 0 <= int(word) < 2**32
    got = []

    def sent(call):
        try:
            return call()
        except ValueError as error:
            assert not good and "a message's words are unsigned, of 32 bits" in str(error)
            return None

    async def program(node):
        def ask(am, source, *words):
            got.append(words)
            return sent(lambda: am.reply(1, word, *others)) or am.reply(1, 1)

        def answer(am, source, *words):
            got.append(words)

        am = Gam(node, [ask, answer])
        await am.enable()
        if node.number == 0:
            try:
                await am.request(1, 0, *others, word)
            except ValueError as error:
                assert not good and "a message's words are unsigned, of 32 bits" in str(error)
                await am.request(1, 0, 1)
            await am.wait(lambda: len(got) == 2)
        await am.disable()

    Model(Description()).run([program] * 2, limit=100_000)
    assert got == ([(*others, int(word)), (int(word), *others)] if good else [(1,), (1,)])


@pytest.mark.parametrize("nodes", [3, 5, 16])
def test_all_to_all(nodes):
    run_on_model(scenarios.in_order(60, nodes=nodes))


def test_small_rings_and_fifos_push_back():
    run_on_model(scenarios.in_order(300, nodes=3, work=2000, structure={
        "nic.receive_ring": 4, "nic.send_ring": 4, "nic.mtu": 64, "nic.send_fifo": 128,
        "nic.receive_fifo": 128}))
    run_on_model(scenarios.mixed(20, structure={
        "nic.receive_ring": 4, "nic.send_ring": 4, "nic.mtu": 64, "nic.send_fifo": 128,
        "nic.receive_fifo": 128}))


@pytest.mark.parametrize("asynchronous", [True, False])
def test_stores_and_gets(asynchronous):
    run_on_model(scenarios.bulk(asynchronous=asynchronous))


def test_bulk_with_one_packet_chunks():
    run_on_model(scenarios.bulk(settings={"am.chunk_packets": 1, "am.chunks": 1}))


def test_bulk_with_small_packets():
    run_on_model(scenarios.bulk((0, 5, 64, 65, 200, 9000), structure={"nic.mtu": 64}))


@pytest.mark.parametrize("nodes", [2, 3])
def test_all_at_once(nodes):
    run_on_model(scenarios.mixed(nodes=nodes))


def test_misuse_is_refused_where_it_happens():
    run_on_model(scenarios.misuse())


def test_own_peer():
    run_on_model(scenarios.itself())


@pytest.mark.parametrize("call", ["request", "wait", "store", "get", "poll", "disable"])
def test_lost_peer_is_an_error_not_a_hang(call):
    run_on_model(scenarios.peer_gone(call))


def test_keep_alive_recovers_losses():
    run_on_model(scenarios.keep_alive())


RATES = {
    "drop 1 %": {"faults.drop": 0.01},
    "drop 10 %": {"faults.drop": 0.1},
    "corrupt 10 %": {"faults.corrupt": 0.1},
    "duplicate 10 %": {"faults.duplicate": 0.1},
    "delay 10 %": {"faults.delay": 0.1, "faults.delay_cycles": 4000},
    "all": {"faults.drop": 0.03, "faults.corrupt": 0.03, "faults.duplicate": 0.05,
            "faults.delay": 0.02},
}


@pytest.mark.parametrize("reply, rate", [
    (True, "all"), more(False, "all"), more(True, "drop 10 %"), more(False, "corrupt 10 %"),
    *(more(reply, rate) for reply in (True, False) for rate in RATES
      if (reply, rate) not in ((True, "drop 10 %"), (False, "corrupt 10 %")) and rate != "all")])
def test_faults_small(reply, rate):
    for seed in (1, 2):
        run_on_model(scenarios.in_order(600, reply=reply, settings={
            **FAULTY, **RATES[rate], "faults.seed": seed}))


@pytest.mark.parametrize("rate", ["all", *(more(rate) for rate in RATES if rate != "all")])
def test_faults_bulk(rate):
    run_on_model(scenarios.bulk(settings={**FAULTY, **RATES[rate]}))
    run_on_model(scenarios.mixed(40, nodes=3, settings={**FAULTY, **RATES[rate]}))


@pytest.mark.full
@pytest.mark.parametrize("rate", RATES)
def test_faults_long(rate):
    """10,000 messages each way; their replies and acknowledgements suffer too."""
    run_on_model(scenarios.in_order(10_000, settings={**FAULTY, **RATES[rate]}))
