"""A block has at most a dozen members: what belongs together is a signature."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable

import pytest
from amaranth.lib import wiring
from nicbed.layouts.description import Description
from nicbed.rtl import vi
from nicbed.rtl.bus.watch import Watch
from nicbed.rtl.cpu.cache.flushing import Flushing
from nicbed.rtl.cpu.cache.refill import Refill
from nicbed.rtl.cpu.cache.sharing import Sharing
from nicbed.rtl.cpu.cache.tags import Tags
from nicbed.rtl.cpu.cache.taken_lines import TakenLines
from nicbed.rtl.cpu.cache_shape import CacheShape
from nicbed.rtl.cpu.compare_and_swap import CompareAndSwap
from nicbed.rtl.cpu.host_port import HostPort
from nicbed.rtl.cpu.kept_words import KeptWords
from nicbed.rtl.cpu.port_shape import PortShape
from nicbed.rtl.cpu.tag_cache import TagCache
from nicbed.rtl.nic.fifos.lane_merge import LaneMerge
from nicbed.rtl.nic.fifos.receive_fifo import ReceiveFifo
from nicbed.rtl.nic.fifos.receive_window import ReceiveWindow
from nicbed.rtl.nic.fifos.send_window import SendWindow
from nicbed.rtl.nic.nic import Nic
from nicbed.rtl.nic.rings.line_ring import LineRing
from nicbed.rtl.nic.rings.packet_maker import PacketMaker
from nicbed.rtl.nic.rings.receive_dma import ReceiveDma
from nicbed.rtl.nic.rings.ring_fetch import RingFetch
from nicbed.rtl.nic.rings.send_dma import SendDma
from nicbed.rtl.parts.csr_file import CsrFile
from nicbed.rtl.processor.attached_processor import AttachedProcessor
from nicbed.rtl.processor.control.crash import Crash
from nicbed.rtl.processor.control.doorbells import Doorbells as ProcessorDoorbells
from nicbed.rtl.processor.control.mmio import Mmio
from nicbed.rtl.processor.control.pending_bits import PendingBits
from nicbed.rtl.processor.engines.host_to_nic import HostToNic
from nicbed.rtl.processor.engines.nic_receive import NicReceive
from nicbed.rtl.processor.engines.nic_send import NicSend
from nicbed.rtl.processor.engines.nic_to_host import NicToHost
from nicbed.rtl.processor.memory.window import Window
from nicbed.rtl.processor.processor import Processor
from nicbed.rtl.vi.attached_engine import AttachedEngine
from nicbed.rtl.vi.complete.completion_counts import CompletionCounts
from nicbed.rtl.vi.complete.completion_queues import CompletionQueues
from nicbed.rtl.vi.complete.completion_unit import CompletionUnit
from nicbed.rtl.vi.complete.completion_write import CompletionWrite
from nicbed.rtl.vi.contexts import Contexts
from nicbed.rtl.vi.descriptors.fetch import DescriptorFetch
from nicbed.rtl.vi.descriptors.segment_walk import SegmentWalk
from nicbed.rtl.vi.engine import Engine
from nicbed.rtl.vi.event_queue import EventQueue
from nicbed.rtl.vi.manager import Manager
from nicbed.rtl.vi.receive.deliver import Deliver
from nicbed.rtl.vi.receive.descriptor import ReceiveDescriptor
from nicbed.rtl.vi.receive.finish import Finish
from nicbed.rtl.vi.receive.judge import Judge
from nicbed.rtl.vi.receive.packet_machine import PacketMachine
from nicbed.rtl.vi.receive.packet_words import PacketWords
from nicbed.rtl.vi.receive.parse import ReceiveParse
from nicbed.rtl.vi.receive.receive_state import ReceiveState
from nicbed.rtl.vi.receive.receiver import Receiver
from nicbed.rtl.vi.receive.scatter_writer import ScatterWriter
from nicbed.rtl.vi.receive.serve import Serve
from nicbed.rtl.vi.receive.turn_keeper import TurnKeeper
from nicbed.rtl.vi.records import ViRecords
from nicbed.rtl.vi.send.acknowledgements import Acknowledgements
from nicbed.rtl.vi.send.fetch import SendFetch
from nicbed.rtl.vi.send.go_back import GoBack
from nicbed.rtl.vi.send.job_end import JobEnd
from nicbed.rtl.vi.send.owed_answers import OwedAnswers
from nicbed.rtl.vi.send.packet_build import PacketBuild
from nicbed.rtl.vi.send.packet_gather import PacketGather
from nicbed.rtl.vi.send.packet_headers import PacketHeaders
from nicbed.rtl.vi.send.packet_pieces import PacketPieces
from nicbed.rtl.vi.send.patience import Patience
from nicbed.rtl.vi.send.read_responder import ReadResponder
from nicbed.rtl.vi.send.read_timer import ReadTimer
from nicbed.rtl.vi.send.sender import Sender
from nicbed.rtl.vi.send.sent_window import SentWindow
from nicbed.rtl.vi.send.slots import SendSlots
from nicbed.rtl.vi.send.transmit import SendTransmit
from nicbed.rtl.vi.send.turn import SendTurn
from nicbed.rtl.vi.send.turn_check import TurnCheck
from nicbed.rtl.vi.send.unacknowledged import Unacknowledged
from nicbed.rtl.vi.translate.table_walk import TableWalk
from nicbed.rtl.vi.translate.translation_cache import TranslationCache
from nicbed.rtl.vi.translate.translation_table import TranslationTable
from nicbed.rtl.vi.translate.translator import Translator
from nicbed.rtl.vi.work_queues.doorbells import Doorbells
from nicbed.rtl.vi.work_queues.queues import WorkQueues
from nicbed.rtl.vi.work_queues.scheduler import Scheduler

MOST = 12
DESCRIPTION = Description.model_validate({"via": {"design": "engine"}})
WITH_CORE = Description.model_validate({"nic": {"processor": "serv"}})
ON_MEMORY_BUS = Description.model_validate({"nic": {"attachment": "memory_bus"}})

BLOCKS: dict[str, Callable[[], wiring.Component]] = {
    "nic": lambda: Nic(description=ON_MEMORY_BUS),
    "registers": CsrFile,
    "send window": lambda: SendWindow(fifo_bytes=256, mtu=64),
    "lane merge": LaneMerge,
    "receive fifo": lambda: ReceiveFifo(fifo_bytes=256, mtu=64),
    "receive window": ReceiveWindow,
    "send dma": lambda: SendDma(fifo_bytes=256, mtu=64, ring=4, coherent=1),
    "ring fetch": lambda: RingFetch(ring=4, coherent=1),
    "line ring": lambda: LineRing(ring=4),
    "packet maker": lambda: PacketMaker(mtu=64, longest=80),
    "receive dma": lambda: ReceiveDma(ring=4, slot_bytes=128),
    "watch": Watch,
    "host port": lambda: HostPort(shape=PortShape(posted_writes=4, cache_lines=4,
                                                   coherent=True)),
    "tag cache": lambda: TagCache(shape=CacheShape(lines=4, coherent=True)),
    "policy of flushes": Flushing,
    "refill": lambda: Refill(shape=CacheShape(lines=4)),
    "sharing": lambda: Sharing(shape=CacheShape(lines=4, peers=1)),
    "taken lines": lambda: TakenLines(shape=CacheShape(lines=4)),
    "tags": lambda: Tags(lines=4, line_bytes=32, state=1, looks=2),
    "kept words": KeptWords,
    "compare and swap": CompareAndSwap,
    "host to nic": lambda: HostToNic(memory_bytes=1 << 14, host_bytes=1 << 20),
    "nic to host": lambda: NicToHost(memory_bytes=1 << 14, host_bytes=1 << 20),
    "nic's send engine": lambda: NicSend(memory_bytes=1 << 14),
    "nic's receive engine": lambda: NicReceive(memory_bytes=1 << 14),
    "engine": lambda: Engine(description=DESCRIPTION),
    "contexts": lambda: Contexts(vis=8, readers=1),
    "manager": lambda: Manager(vis=8, breakers=1),
    "doorbells": lambda: Doorbells(vis=8, depth=4),
    "work queues": lambda: WorkQueues(vis=8, depth=4),
    "events": lambda: EventQueue(depth=4, sources=1),
    "completion": lambda: CompletionUnit(vis=8, cqs=4),
    "completion write": CompletionWrite,
    "completion queues": lambda: CompletionQueues(cqs=4),
    "completion counts": lambda: CompletionCounts(vis=8),
    "translator": lambda: Translator(description=DESCRIPTION, clients=1),
    "translation cache": lambda: TranslationCache(sets=4, ways=2, replacement="lru"),
    "table walk": TableWalk,
    "translation table": lambda: TranslationTable(entries=64),
    "scheduler": lambda: Scheduler(vis=8, wakers=3),
    "descriptor fetch": DescriptorFetch,
    "segment walk": SegmentWalk,
    "sender": lambda: Sender(description=DESCRIPTION),
    "turn check": lambda: TurnCheck(window=4),
    "send turn": lambda: SendTurn(window=4, mtu=64),
    "packet pieces": PacketPieces,
    "job end": JobEnd,
    "packet gather": PacketGather,
    "packet headers": PacketHeaders,
    "owed answers": lambda: OwedAnswers(vis=8),
    "send fetch": lambda: SendFetch(vis=8, window=4, mtu=64),
    "packet build": lambda: PacketBuild(mtu=64, slots=4),
    "send slots": lambda: SendSlots(slots=4, words=8),
    "send transmit": lambda: SendTransmit(slots=4),
    "acknowledgements": lambda: Acknowledgements(vis=8, window=4, slots=4),
    "sent window": SentWindow,
    "go back": GoBack,
    "patience": Patience,
    "unacknowledged": lambda: Unacknowledged(vis=8, window=4),
    "records": lambda: ViRecords(shape=8, vis=8, readers=1),
    "read responder": lambda: ReadResponder(vis=8),
    "read timer": lambda: ReadTimer(vis=8),
    "receiver": lambda: Receiver(description=DESCRIPTION),
    "receive parse": ReceiveParse,
    "packet words": lambda: PacketWords(depth=8),
    "receive descriptor": ReceiveDescriptor,
    "packet machine": PacketMachine,
    "turn keeper": TurnKeeper,
    "judge": Judge,
    "deliver": Deliver,
    "finish": Finish,
    "serve": Serve,
    "scatter writer": ScatterWriter,
    "receive state": lambda: ReceiveState(vis=8),
    "processor": lambda: Processor(description=WITH_CORE),
    "attached processor": lambda: AttachedProcessor(description=WITH_CORE),
    "attached engine": lambda: AttachedEngine(description=Description()),
    "processor's doorbells": lambda: ProcessorDoorbells(depth=4, memory_bytes=1 << 14),
    "register file": lambda: Mmio(memory_bytes=1 << 14),
    "pending bits": PendingBits,
    "crash": Crash,
    "window": lambda: Window(memory_bytes=1 << 14),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_has_at_most_a_dozen_members(name: str) -> None:
    members = list(BLOCKS[name]().signature.members)
    assert len(members) <= MOST, members


def test_every_block_of_the_vi_engine_is_held() -> None:
    names = [module.name for module in pkgutil.walk_packages(vi.__path__, f"{vi.__name__}.")]
    found = {part for name in names
             for _, part in inspect.getmembers(importlib.import_module(name), inspect.isclass)
             if issubclass(part, wiring.Component) and part.__module__ == name}
    assert len(found) > 30
    assert found <= {type(make()) for make in BLOCKS.values()}
