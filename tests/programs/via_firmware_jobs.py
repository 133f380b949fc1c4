"""Jobs in a simulator with VIA's firmware: round trips with other VIs open beside the one, and the
tests of the engine."""

import traceback
from typing import Any

from nicbed.host.via.returns import VIP_RETURN
from nicbed.layouts.description import Description
from nicbed.layouts.trace import TICKS
from nicbed.layouts.via import Reliability

from tests.labs.firmware_cases import on_firmware, with_firmware
from tests.labs.on_simulator import STRUCTURE, Case, OtherStructure
from tests.programs.via_firmware_raw import SLOWER
from tests.programs.vipl import Side

__all__ = ["LabModel", "pingpong", "round_trips", "run_cases_inside"]

SUCCESS = VIP_RETURN.SUCCESS


def pingpong(vis: int, size: int, rounds: int, level: int) -> list[Any]:
    """Programs of two nodes that have ``vis`` VIs open each: the client's result is the cycles of
    its round trips, the server's the last bytes it got."""
    def on(number: int) -> Any:
        async def program(node: Any) -> Any:
            side = await Side(node, Reliability(level)).open(vi=False)
            others = [await side.create() for _ in range(vis - 1)]
            side.vi = await side.create()
            vipl, vi = side.vipl, side.vi
            posts = [await side.make(side.segment(4096 + 8 * place, size)) for place in range(2)]
            for va, handle in posts:
                assert await vipl.VipPostRecv(vi, va, handle) is SUCCESS
            send = await side.make(side.segment(0, size))
            side.process.write(side.va, bytes([number + 1]) * size)
            await side.connect()
            times = []
            for turn in range(rounds):
                begin = await node.port.now()
                if number == 0:
                    assert await vipl.VipPostSend(vi, *send) is SUCCESS
                result, done = await vipl.VipRecvWait(vi, None)
                assert result is SUCCESS and done == posts[turn % 2][0], (result, done)
                assert await vipl.VipPostRecv(vi, *posts[turn % 2]) is SUCCESS
                if number == 1:
                    assert await vipl.VipPostSend(vi, *send) is SUCCESS
                result, _ = await vipl.VipSendWait(vi, None)
                assert result is SUCCESS, result
                times.append((await node.port.now() - begin) // TICKS)
            assert len(others) == vis - 1 and not side.errors, side.errors
            return times if number == 0 else side.process.read(side.va + 4096, size)
        return program

    return [on(0), on(1)]


async def round_trips(lab: Any, settings: dict[str, Any], vis: int, size: int, rounds: int = 6,
                      level: int = 1) -> Any:
    run = await lab.run(pingpong(vis, size, rounds, level), settings=settings)
    return run.results


AS_BUILT = (("nic", "processor"), ("nic", "attachment"), ("processor", "memory"),
            ("memory", "bytes"))
"""What a test takes as it is: its own description has the model's, or less memory."""


class LabModel:
    """What a test takes for its Model: runs programs on the lab it is in. Without an engine, knobs
    of VIA are the host's and the firmware's alone, whatever the simulator was built with."""

    doorbells = "queue"
    lab: Any = None
    resume: Any = None

    def __init__(self, description: Description) -> None:
        built = self.lab.description.model_dump()
        here = with_firmware(description, self.doorbells).model_dump()
        for section, key in AS_BUILT:
            here[section][key] = built[section][key]
        for section, key in STRUCTURE:
            if section != "via" and here[section][key] != built[section][key]:
                raise OtherStructure(f"structure: {section}.{key} = {here[section][key]}")
        self.wanted = Description.model_validate(here)

    def run(self, programs: Any, limit: int | None = None, **_: Any) -> Any:
        built, self.lab.description = self.lab.description, self.wanted
        try:
            return self.resume(self.lab.run)(list(programs), limit=limit and SLOWER * limit)
        finally:
            self.lab.description = built


async def run_cases_inside(lab: Any, chosen: list[tuple[str, str, int, dict[str, Any]]],
                           doorbells: str) -> dict[str, str]:
    """What became of each case: "" for passed, else why not."""
    from cocotb.task import bridge, resume
    LabModel.lab, LabModel.resume = lab, staticmethod(resume)
    found = {}
    for number, fields in enumerate(chosen):
        case = Case(*fields)
        lab.progress(str(case), number, len(chosen))
        found[str(case)] = await bridge(_outcome)(case, doorbells)
    return found


def _outcome(case: Case, doorbells: str) -> str:
    try:
        with on_firmware(case, doorbells, LabModel):
            case.function(**case.arguments)
    except OtherStructure as error:
        return str(error)
    except BaseException as error:
        return "".join(traceback.format_exception(error))
    return ""
