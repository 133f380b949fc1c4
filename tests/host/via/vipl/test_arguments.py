"""What VIPL's calls check: handles, states, attributes, limits; and that every code is returned."""

import importlib
import inspect

import pytest
from nicbed.host.via import (
    VIP_RETURN,
    ErrorCode,
    MemAttributes,
    NetAddress,
    Process,
    ViAttributes,
    Vipl,
    VipState,
)
from nicbed.host.via.vipl import vipl
from nicbed.layouts.via import Reliability

from tests.programs.vipl import RD, SUCCESS, UD, Side, run

BAD, RESOURCE = VIP_RETURN.INVALID_PARAMETER, VIP_RETURN.ERROR_RESOURCE
STATE = VIP_RETURN.INVALID_STATE
CALLS = """VipOpenNic VipCloseNic VipQueryNic VipErrorCallback VipCreatePtag VipDestroyPtag
VipRegisterMem VipDeregisterMem VipQueryMem VipSetMemAttributes VipCreateVi VipDestroyVi VipQueryVi
VipSetViAttributes VipPostSend VipPostRecv VipSendDone VipRecvDone VipSendWait VipRecvWait
VipSendNotify VipRecvNotify VipCreateCQ VipDestroyCQ VipResizeCQ VipCQDone VipCQWait VipCQNotify
VipConnectWait VipConnectAccept VipConnectReject VipConnectRequest VipConnectPeerRequest
VipConnectPeerDone VipConnectPeerWait VipDisconnect VipNSInit VipNSGetHostByName VipNSGetHostByAddr
VipNSShutdown""".split()


def code(result):
    """The code, of what a call returned."""
    return result[0] if isinstance(result, tuple) else result


def one(program, **knobs):
    """The result of a program on an open node that is alone."""
    async def start(node):
        return await program(await Side(node).open())

    return run(start, None, **knobs)[0]


def test_all_calls_are_there():
    assert sorted(CALLS) == sorted(name for name in dir(Vipl) if name.startswith("Vip"))
    assert all(inspect.iscoroutinefunction(getattr(Vipl, name)) for name in CALLS)
    assert Vipl.__mro__ == (Vipl, object)
    assert vipl.__doc__ is not None


def test_codes_are_the_headers():
    assert [code.value for code in VIP_RETURN] == list(range(17))
    assert VIP_RETURN.NO_MATCH == 14 and VIP_RETURN.DESCRIPTOR_ERROR == 11
    assert [code.name for code in sorted(ErrorCode)] == (
        "POST_DESC CONN_LOST RECVQ_EMPTY VI_OVERRUN RDMAW_PROT RDMAW_DATA RDMAW_ABORT RDMAR_PROT "
        "COMP_PROT RDMA_TRANSPORT CATASTROPHIC").split()
    assert [code.value for code in sorted(ErrorCode)] == list(range(11))
    assert [state.value for state in VipState] == list(range(4))


def arguments(name, side):
    """Good arguments of a call that takes a handle."""
    vi, nic, cq = side.vi, side.nic, side.cq
    here = NetAddress(0, b"x")
    return {
        "Nic": (nic,), "Tag": (nic, side.tag), "Vi": (vi,), "Cq": (cq,),
    } | {"VipErrorCallback": (nic, 0, None), "VipDestroyPtag": (nic, side.tag),
         "VipRegisterMem": (nic, side.va, 9, MemAttributes(side.tag)),
         "VipDeregisterMem": (nic, side.va, side.handle),
         "VipQueryMem": (nic, side.va, side.handle),
         "VipSetMemAttributes": (nic, side.va, side.handle, MemAttributes(side.tag)),
         "VipCreateVi": (nic, ViAttributes(side.tag)), "VipSetViAttributes": (
             vi, ViAttributes(side.tag)),
         "VipPostSend": (vi, side.va, side.handle), "VipPostRecv": (vi, side.va, side.handle),
         "VipSendWait": (vi, 0), "VipRecvWait": (vi, 0), "VipSendNotify": (vi, 0, print),
         "VipRecvNotify": (vi, 0, print), "VipCreateCQ": (nic, 4), "VipResizeCQ": (cq, 4),
         "VipCQWait": (cq, 0), "VipCQNotify": (cq, 0, print), "VipConnectWait": (nic, here, 0),
         "VipConnectRequest": (vi, here, here, 1), "VipConnectPeerRequest": (vi, here, here, 1),
         "VipNSGetHostByName": (nic, "node0"), "VipNSGetHostByAddr": (nic, here),
         }


ONE_HANDLE = {"VipQueryNic": "nic", "VipCloseNic": "nic", "VipCreatePtag": "nic",
              "VipNSInit": "nic", "VipNSShutdown": "nic", "VipDestroyVi": "vi", "VipQueryVi": "vi",
              "VipSendDone": "vi", "VipRecvDone": "vi", "VipConnectPeerDone": "vi",
              "VipConnectPeerWait": "vi", "VipDisconnect": "vi", "VipDestroyCQ": "cq",
              "VipCQDone": "cq"}


@pytest.mark.parametrize("name", [name for name in CALLS if name != "VipOpenNic"])
def test_handles_that_are_none(name):
    """Of another kind, another process, none at all, closed: INVALID_PARAMETER, and nothing done.
    """
    async def program(side):
        _, side.cq = await side.vipl.VipCreateCQ(side.nic, 4)
        other = await Side(side.node, number=2).open()
        _, other.cq = await other.vipl.VipCreateCQ(other.nic, 4)
        first = [None, 7, "vi", object()]
        rest = arguments(name, side).get(name, (None,))[1:]
        first += [other.nic, other.vi, other.cq]
        good = arguments(name, side).get(name, (getattr(side, ONE_HANDLE.get(name, "va")),))[0]
        first += [thing for thing in (side.nic, side.vi, side.cq) if thing is not good]
        if name in ("VipConnectAccept", "VipConnectReject"):
            rest = (side.vi,) if name == "VipConnectAccept" else ()
        call = getattr(side.vipl, name)
        for thing in first:
            assert code(await call(thing, *rest)) is BAD, thing
        await side.vipl.VipDestroyVi(side.vi)
        await side.vipl.VipDestroyCQ(side.cq)
        for thing in (side.vi, side.cq):
            assert code(await call(thing, *rest)) is BAD, thing
        await side.vipl.VipDeregisterMem(side.nic, side.va, side.handle)
        assert await side.vipl.VipCloseNic(side.nic) is SUCCESS
        assert code(await call(side.nic, *rest)) is BAD

    one(program)


def test_opening():
    async def program(side):
        call = side.vipl
        assert code(await call.VipOpenNic("nic1")) is BAD
        result, again = await call.VipOpenNic("nic0")
        assert result is SUCCESS and again is not side.nic
        assert await call.VipCloseNic(side.nic) is RESOURCE
        assert await call.VipCloseNic(again) is SUCCESS
        assert await call.VipCloseNic(again) is BAD
        result, about = await call.VipQueryNic(side.nic)
        assert (about.max_vis, about.max_segments, about.page_bytes) == (8, 252, 1024)
        assert about.max_cq_entries >= 1024 and about.max_transfer_size >= 32768
        assert code(await call.VipErrorCallback(side.nic, None, 3)) is BAD

    one(program)


def test_no_room_for_the_tables():
    async def program(node):
        node.allocate(node.memory.size - 4096)
        result, nic = await Vipl(Process(node)).VipOpenNic("nic0")
        assert (result, nic) == (RESOURCE, None)

    run(program, None)


def test_protection_tags():
    async def program(side):
        call = side.vipl
        result, tag = await call.VipCreatePtag(side.nic)
        assert result is SUCCESS and tag.number != side.tag.number
        assert await call.VipDestroyPtag(side.nic, side.tag) is RESOURCE
        assert await call.VipDestroyPtag(side.nic, tag) is SUCCESS
        assert await call.VipDestroyPtag(side.nic, tag) is VIP_RETURN.INVALID_PTAG
        refused = await call.VipRegisterMem(side.nic, side.va, 8, MemAttributes(tag))
        assert refused == (VIP_RETURN.INVALID_PTAG, None)
        assert code(await call.VipCreateVi(side.nic, ViAttributes(tag))) is VIP_RETURN.INVALID_PTAG
        side.node.service(type(call.kernel))._tags = 0xFFFF
        assert await call.VipCreatePtag(side.nic) == (RESOURCE, None)
        assert await call.VipCreateCQ(side.nic, 4) == (RESOURCE, None)

    one(program)


def test_registering():
    async def program(side):
        call, nic, va = side.vipl, side.nic, side.va
        good = MemAttributes(side.tag)
        for bad_va, length in ((va, 0), (va, -1), (va, 1 << 30), (0, 8), (-8, 8), ("x", 8),
                               (va, 8.0)):
            assert await call.VipRegisterMem(nic, bad_va, length, good) == (BAD, None)
        assert code(await call.VipRegisterMem(nic, va, 8, None)) is BAD
        _, handle = await call.VipRegisterMem(nic, va + 1, 8, MemAttributes(side.tag, True))
        assert handle != side.handle
        assert await call.VipQueryMem(nic, va + 1, handle) == (SUCCESS, MemAttributes(
            side.tag, True))
        assert await call.VipQueryMem(nic, va, handle) == (BAD, None)
        _, tag = await call.VipCreatePtag(nic)
        new = MemAttributes(tag, False, True)
        assert await call.VipSetMemAttributes(nic, va + 1, handle, new) is SUCCESS
        assert await call.VipQueryMem(nic, va + 1, handle) == (SUCCESS, new)
        assert await call.VipDestroyPtag(nic, tag) is RESOURCE
        assert await call.VipSetMemAttributes(nic, va + 1, handle, None) is BAD
        assert await call.VipDeregisterMem(nic, va, handle) is BAD
        assert await call.VipDeregisterMem(nic, va + 1, handle) is SUCCESS
        assert await call.VipDeregisterMem(nic, va + 1, handle) is BAD
        assert await call.VipDestroyPtag(nic, tag) is SUCCESS

    one(program)


def test_a_full_table_and_room_again():
    async def program(side):
        call = side.vipl
        va = side.process.allocate(60 * 1024, fresh=True)
        handles = []
        while True:
            result, handle = await call.VipRegisterMem(side.nic, va, 60 * 1024,
                                                       MemAttributes(side.tag))
            if result is RESOURCE:
                break
            handles.append(handle)
        assert len(handles) == 16 and len(set(handles)) == 16
        big = side.process.allocate(300 * 1024)
        assert code(await call.VipRegisterMem(side.nic, big, 300 * 1024,
                                              MemAttributes(side.tag))) is RESOURCE
        assert await call.VipDeregisterMem(side.nic, va, handles[7]) is SUCCESS
        result, handle = await call.VipRegisterMem(side.nic, va, 60 * 1024,
                                                   MemAttributes(side.tag))
        assert result is SUCCESS and handle not in handles

    one(program)


def test_vis():
    async def program(side):
        call, nic, tag = side.vipl, side.nic, side.tag
        wrong = {VIP_RETURN.INVALID_RELIABILITY_LEVEL: ViAttributes(tag, 7),
                 VIP_RETURN.INVALID_MTU: ViAttributes(tag, max_transfer=1 << 24),
                 VIP_RETURN.INVALID_QOS: ViAttributes(tag, qos=-1),
                 VIP_RETURN.INVALID_RDMAREAD: ViAttributes(tag, UD, rdma_read=True),
                 BAD: None}
        for refused, attributes in wrong.items():
            assert await call.VipCreateVi(nic, attributes) == (refused, None)
            assert await call.VipSetViAttributes(side.vi, attributes) is refused
        assert code(await call.VipCreateVi(nic, ViAttributes(tag, max_transfer=0))) is (
            VIP_RETURN.INVALID_MTU)
        assert code(await call.VipCreateVi(nic, ViAttributes(tag), side.vi)) is BAD
        new = ViAttributes(tag, Reliability.RELIABLE_RECEPTION, rdma_read=True)
        assert await call.VipSetViAttributes(side.vi, new) is SUCCESS
        assert await call.VipQueryVi(side.vi) == (SUCCESS, (VipState.IDLE, new, True, True))
        vis = [side.vi]
        while len(vis) < 8:
            vis.append(await side.create())
        assert await call.VipCreateVi(nic, ViAttributes(tag)) == (RESOURCE, None)
        assert len({vi.number for vi in vis}) == 8
        va, handle = await side.make(side.segment(0, 4))
        assert await call.VipPostRecv(side.vi, va, handle) is SUCCESS
        assert await call.VipDestroyVi(side.vi) is RESOURCE
        assert (await call.VipQueryVi(side.vi))[1][2:] == (True, False)
        assert await call.VipDisconnect(side.vi) is SUCCESS
        assert await call.VipRecvDone(side.vi) == (VIP_RETURN.DESCRIPTOR_ERROR, va)
        assert await call.VipDestroyVi(side.vi) is SUCCESS
        assert (await call.VipCreateVi(nic, ViAttributes(tag)))[0] is SUCCESS

    one(program)


def test_states_that_a_call_is_not_for():
    async def program(node):
        side = await (await Side(node).open()).connect()
        call, here = side.vipl, NetAddress(node.number, b"y")
        there = NetAddress(1 - node.number, b"y")
        assert await call.VipDestroyVi(side.vi) is STATE
        assert await call.VipSetViAttributes(side.vi, ViAttributes(side.tag)) is STATE
        assert code(await call.VipConnectRequest(side.vi, here, there, None)) is STATE
        assert await call.VipConnectPeerRequest(side.vi, here, there, None) is STATE
        assert code(await call.VipConnectPeerWait(side.vi)) is STATE
        if node.number:
            idle = await side.create()
            _, _, _, connection = await call.VipConnectWait(side.nic, here, None)
            assert await call.VipConnectAccept(connection, side.vi) is STATE
            assert await call.VipConnectAccept(connection, idle) is SUCCESS
        else:
            idle, result = await side.create(), VIP_RETURN.NO_MATCH
            for zero in (0, -1, "soon", True):
                assert await call.VipConnectRequest(idle, here, there, zero) == (BAD, None)
            while result is VIP_RETURN.NO_MATCH:
                result, _ = await call.VipConnectRequest(idle, here, there, None)
            assert result is SUCCESS

    run(program, program)


def test_other_arguments():
    async def program(side):
        call, nic, vi = side.vipl, side.nic, side.vi
        _, cq = await call.VipCreateCQ(nic, 4)
        for entries in (0, -1, 1 << 15, 1.5, None, True):
            assert code(await call.VipCreateCQ(nic, entries)) is BAD
            assert await call.VipResizeCQ(cq, entries) is BAD
        assert await call.VipResizeCQ(cq, 9) is SUCCESS
        for va, handle in ((-1, 0), (1 << 64, 0), (0, -1), (0, 1 << 32), ("", 0), (0, None)):
            assert await call.VipPostSend(vi, va, handle) is BAD
            assert await call.VipPostRecv(vi, va, handle) is BAD
        await side.receive(side.segment(0, 4))
        for timeout in (-1, "x", True):
            assert await call.VipRecvWait(vi, timeout) == (BAD, None)
            assert code(await call.VipCQWait(cq, timeout)) is BAD
            assert code(await call.VipConnectWait(nic, NetAddress(0), timeout)) is BAD
        for handler in (None, 5):
            assert await call.VipRecvNotify(vi, 0, handler) is BAD
            assert await call.VipCQNotify(cq, 0, handler) is BAD
        for address in (None, NetAddress(0, b"13 bytes long"), NetAddress(0, "text"),
                        NetAddress(1)):
            assert code(await call.VipConnectWait(nic, address, 1)) is BAD
            assert code(await call.VipConnectRequest(vi, address, NetAddress(0), 1)) is BAD
        queues = [cq]
        while len(queues) < 64:
            result, found = await call.VipCreateCQ(nic, 1)
            assert result is SUCCESS
            queues.append(found)
        assert await call.VipCreateCQ(nic, 1) == (RESOURCE, None)

    one(program, via__cqs=64)


def test_the_name_service():
    async def program(side):
        call, nic = side.vipl, side.nic
        unknown = VIP_RETURN.ERROR_NAMESERVICE
        assert await call.VipNSGetHostByName(nic, "node1") == (unknown, None)
        assert await call.VipNSShutdown(nic) is unknown
        assert await call.VipNSInit(nic) is SUCCESS
        assert await call.VipNSInit(nic) is unknown
        assert await call.VipNSGetHostByName(nic, "node1") == (SUCCESS, NetAddress(1))
        assert await call.VipNSGetHostByAddr(nic, NetAddress(1, b"x")) == (SUCCESS, "node1")
        for name in ("node2", "node01", "", "NODE0"):
            assert await call.VipNSGetHostByName(nic, name) == (unknown, None)
        assert await call.VipNSGetHostByAddr(nic, NetAddress(2)) == (unknown, None)
        assert await call.VipNSGetHostByName(nic, 3) == (BAD, None)
        assert await call.VipNSShutdown(nic) is SUCCESS
        assert await call.VipNSGetHostByName(nic, "node1") == (unknown, None)

    one(program)


def test_what_physical_addresses_cannot_do():
    """RDMA, two tags in a page, and a descriptor that is cut into too many segments."""
    unsupported = VIP_RETURN.ERROR_NOT_SUPPORTED

    async def program(side):
        call, nic = side.vipl, side.nic
        about = (await call.VipQueryNic(nic))[1]
        assert not about.rdma_write and not about.rdma_read
        assert code(await call.VipCreateVi(nic, ViAttributes(side.tag, rdma_write=True))) is (
            unsupported)
        assert await call.VipRegisterMem(nic, side.va, 8, MemAttributes(
            side.tag, True)) == (unsupported, None)
        va, handle = await side.make(side.segment(0, 4), control=1, remote=side.segment(0, 4))
        assert await call.VipPostSend(side.vi, va, handle) is unsupported
        _, tag = await call.VipCreatePtag(nic)
        assert await call.VipRegisterMem(nic, side.va + 9, 8, MemAttributes(tag)) == (
            RESOURCE, None)
        assert await call.VipSetMemAttributes(nic, side.va, side.handle,
                                              MemAttributes(tag)) is SUCCESS
        assert await call.VipSetMemAttributes(nic, side.va, side.handle,
                                              MemAttributes(side.tag)) is SUCCESS
        va, handle = await side.make(*[side.segment(0, 1025)] * 126)
        assert await call.VipPostSend(side.vi, va, handle) is SUCCESS
        va, handle = await side.make(*[side.segment(0, 1025)] * 127)
        assert await call.VipPostSend(side.vi, va, handle) is RESOURCE

    one(program, via__translation="physical")


def test_every_code_is_returned_somewhere():
    """By a test of these files; the rest are in what they assert."""
    text = "".join(inspect.getsource(module) for module in map(importlib.import_module, (
        "tests.host.via.vipl.test_arguments", "tests.host.via.vipl.test_connections",
        "tests.host.via.vipl.test_completions")))
    for member in VIP_RETURN:
        assert f"VIP_RETURN.{member.name}" in text or member is SUCCESS, member
    assert RD in Reliability
