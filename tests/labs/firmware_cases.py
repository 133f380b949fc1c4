"""VIA's tests on the firmware of the NIC processor: which run, and what stands for what in them.

Firmware is slower than the engine, so what a test waits for, and the time-outs that it sets, are
longer here.
"""

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from nicbed.layouts.description import Description
from nicbed.layouts.via import Reliability

from tests.labs import via_model as via_model_lab
from tests.labs.on_simulator import Case, cases
from tests.models.target import Model
from tests.programs import vipl as vipl_programs
from tests.programs.via_firmware_raw import SLOWER, FirmwareRaw

__all__ = ["MODULES", "chosen", "on_firmware", "with_firmware"]

MODULES = ("tests.via_model.test_messages", "tests.via_model.test_completion",
           "tests.via_model.test_faults",
           "tests.via_model.test_queues", "tests.via_model.test_rdma",
           "tests.host.via.vipl.test_vipl", "tests.host.via.vipl.test_arguments",
           "tests.host.via.vipl.test_completions", "tests.host.via.vipl.test_connections",
           "tests.host.via.vipl.test_errors")
OTHERWISE = {
    "test_a_misaligned_token_is_post_desc": "a token's low bits are its count",
    "test_kernel_registers_are_the_kernel_s": "the engine's registers",
    "test_no_engine_no_registers": "the engine's registers",
    "test_what_physical_addresses_cannot_do": "translation is always by the table",
    "test_the_cache_remembers_an_entry_until_it_is_invalidated": "a direct-mapped cache may forget "
                                                                 "one sooner",
    "test_the_interrupt_line_is_high_while_there_are_events": "the engine's is a level, and sooner",
    "test_a_completion_that_cannot_be_written_is_comp_prot": "holds a packet back as long as suits "
                                                            "the engine's model",
    "test_a_poll_of_a_register_comes_behind_posted_writes": "the engine's registers",
    "test_descriptors_behind_the_first_are_found_by_next_not_by_their_tokens":
        "rings one by one, so that the first may have been taken before the second is there",
    "test_a_wait_that_is_interrupted_spins_on": "a message takes longer than the wait spins",
    "test_a_bad_descriptor_is_linked_to_the_last_one": "what a post stores is the token's",
}
"""What is no promise of the firmware's."""
UNSUPPORTED = {
    "test_reliable_reception_completes_only_what_has_arrived": "Reliable Reception",
    "test_a_fenced_send_goes_when_the_read_before_it_is_done": "RDMA reads",
    "test_an_rdma_read_into_memory_that_is_not_allowed": "RDMA reads",
    "test_an_rdma_read_that_is_refused": "RDMA reads",
    "test_a_node_connects_to_itself": "Reliable Reception among the levels",
    "test_no_receive_posted": "Reliable Reception among the levels",
    "test_vis": "Reliable Reception among the attributes",
    "test_rdma_read": "RDMA reads",
    "test_reliable_messages_survive_faults_exactly_once_in_order": "RDMA reads among them",
}
"""What wants what the firmware leaves out, beside what parameters say."""


def chosen(modules: tuple[str, ...] = MODULES) -> list[Case]:
    """The cases that hold of firmware: without RDMA reads, Reliable Reception, and translation
    elsewhere than in a cache."""
    found = [case for name in modules for case in cases(importlib.import_module(name))]
    return [case for case in found
            if case.name not in OTHERWISE and case.name not in UNSUPPORTED
            and case.arguments.get("level") is not Reliability.RELIABLE_RECEPTION
            and case.arguments.get("translation", "cache") == "cache"
            and "via__translation" not in case.arguments.get("knobs", {})]


def with_firmware(description: Description, doorbells: str = "queue",
                  memory: int = 1 << 17) -> Description:
    """``description`` with a processor that VIA's firmware runs on, and as much NIC memory."""
    table = description.model_dump()
    table["via"]["design"] = "firmware"
    table["via"]["retry_timeout"] *= SLOWER
    table["nic"]["processor"] = "picorv32"
    table["processor"] |= {"memory": memory, "doorbells": doorbells}
    return Description.model_validate(table)


class FirmwareModel(Model):
    """The functional target with firmware."""

    doorbells = "queue"

    def __init__(self, description: Description) -> None:
        super().__init__(with_firmware(description, self.doorbells))

    def run(self, programs: Any, *, limit: int = 0, **others: Any) -> Any:
        return super().run(programs, limit=SLOWER * limit, **others)


@contextlib.contextmanager
def on_firmware(case: Case, doorbells: str = "queue", model: Any = FirmwareModel) -> Iterator[None]:
    """Within it ``case`` runs on ``model``, with firmware."""
    with contextlib.ExitStack() as stack:
        def put(place: Any, name: str, value: Any) -> None:
            if hasattr(place, name):
                stack.enter_context(mock.patch.object(place, name, value))

        put(model, "doorbells", doorbells)
        test = importlib.import_module(case.module)
        for module in (test, vipl_programs, via_model_lab):
            put(module, "Model", model)
        put(via_model_lab, "Raw", FirmwareRaw)
        put(via_model_lab.Side, "rest", _longer(via_model_lab.Side.rest))
        for name in ("rest", "attend"):
            put(test, name, _longer(getattr(test, name, None)))
        yield


def _longer(rest: Any) -> Any:
    async def longer(side: Any, cycles: int = 50_000) -> Any:
        return await rest(side, SLOWER * cycles)
    return longer
