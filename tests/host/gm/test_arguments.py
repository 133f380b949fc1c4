"""GM's library refuses what makes no sense, and says so."""

import re
from pathlib import Path

import pytest
from nicbed.host.gm import GM_EVENT, GM_STATUS, Gm
from nicbed.host.kernel.process import Process
from nicbed.host.processor import ProcessorError

from tests.models.target import Model
from tests.programs.gm import LIMIT, PORT, Station, describe, stations

OK, BAD = GM_STATUS.GM_SUCCESS, GM_STATUS.GM_INVALID_PARAMETER


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


def test_arguments():
    async def body(station: Station):
        gm, port = station.gm, station.port
        ptr = await station.memory(100)
        send = gm.gm_send_with_callback
        found = [await call for call in (
            send(None, ptr, 7, 100, 0, 1, PORT),
            send(port, ptr, 7, 121, 0, 1, PORT),
            send(port, ptr, 7, -1, 0, 1, PORT),
            send(port, ptr, 2, 0, 0, 1, PORT),
            send(port, ptr, 21, 100, 0, 1, PORT),
            send(port, ptr, 7, 100, 2, 1, PORT),
            send(port, ptr, 7, 100, 0, 2, PORT),
            send(port, ptr, 7, 100, 0, -1, PORT),
            send(port, ptr, 7, 100, 0, 1, 8),
            send(port, -1, 7, 100, 0, 1, PORT),
            send(port, 1 << 64, 7, 100, 0, 1, PORT),
            send(port, "ptr", 7, 100, 0, 1, PORT),
            gm.gm_send_to_peer_with_callback(None, ptr, 7, 100, 0, 1),
            gm.gm_directed_send_with_callback(port, ptr, -1, 100, 0, 1, PORT),
            gm.gm_directed_send_with_callback(port, ptr, ptr, 1 << 20, 0, 1, PORT),
            gm.gm_provide_receive_buffer(port, ptr, 2, 0),
            gm.gm_provide_receive_buffer(port, ptr, 7, 2),
            gm.gm_provide_receive_buffer_with_tag(port, ptr, 7, 0, 256),
            gm.gm_set_acceptable_sizes(port, 0, 1 << 32),
            gm.gm_allow_remote_memory_access(None),
            gm.gm_resume_sending(port, 0, 9, PORT),
            gm.gm_drop_sends(port, 3, 1, PORT),
            gm.gm_register_memory(port, ptr, 0),
            gm.gm_register_memory(None, ptr, 8),
            gm.gm_deregister_memory(port, ptr + (1 << 30), 8),
            gm.gm_close(None),
        )]
        assert found == [BAD] * len(found)
        assert await gm.gm_register_memory(port, ptr + (1 << 30), 8) \
            is GM_STATUS.GM_PERMISSION_DENIED
        assert await send(port, ptr + (1 << 30), 4, 8, 0, 1, PORT) is GM_STATUS.GM_MEMORY_FAULT
        assert await gm.gm_dma_malloc(port, 0) is None
        assert await gm.gm_dma_malloc(port, 1 << 30) is None
        assert (await gm.gm_get_node_id(None)) == (BAD, 0)
        for event in (await gm.gm_receive(port), await gm.gm_receive(None),
                      await gm.gm_blocking_receive(None)):
            assert event.type is GM_EVENT.GM_NO_RECV_EVENT
        assert not await gm.gm_receive_pending(None)
        assert len(port.free_sends) == port.send_tokens
        assert len(port.free_receives) == port.receive_tokens
        return True

    assert run(stations(body, None)) == [True, None]


def test_memory_that_is_full():
    async def body(node):
        for size in (4096, 64):
            with pytest.raises(MemoryError):
                while True:
                    node.allocate(size)
        return await Gm(Process(node)).gm_open(0, PORT)

    assert run([body, None]) == [(GM_STATUS.GM_OUT_OF_MEMORY, None), None]


def test_a_nic_without_a_processor():
    async def body(node):
        await Gm(Process(node)).gm_open(0, PORT)

    with pytest.raises(ProcessorError, match="no processor"):
        run([body, None], nic__processor="none")


def test_every_promise_names_tests_that_exist():
    folder = Path(__file__).parents[2]
    named = re.findall(r"`(host/gm/\w+\.py)::(\w+)`",
                       (folder.parent / "docs/tutorials/gm.md").read_text())
    assert len(named) > 30
    for file, name in named:
        assert f"def {name}(" in (folder / file).read_text(), f"{file}::{name}"
