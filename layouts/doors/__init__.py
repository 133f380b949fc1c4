"""Doors: how NIC designs, layers, cores and topologies are found, ours and others'.

In the order in which to read:

- :mod:`.finding`: A door: it finds objects of a kind by name, built in or by an entry point, and by
  path
- :mod:`.loading`: Loads the Python file of an object from outside: its folder becomes a package of
  its own
- :mod:`.sources`: Finds the files on which an object from outside depends, and makes one hash of
  their bytes
- :mod:`.verilog_names`: Finds the files that Verilog text names: those that it includes, and those
  of its memories
- :mod:`.blame`: Finds the line of code from outside that an exception comes from
- :mod:`.lazy`: Names of objects as text, "module:object", which are imported when they are first
  needed
- :mod:`.trace_block`: A block of a NIC design that emits trace events
- :mod:`.trace_stage`: A stage of a message's flight, which ends with an event of a block of a NIC
  design
- :mod:`.nic_design`: A NIC design: what a user writes to plug a NIC in
- :mod:`.layer`: A layer: what a user writes to plug a communication layer in
- :mod:`.core`: A core of the NIC processor: what a user writes to plug one in
- :mod:`.topology`: A topology: what a user writes to plug a kind of fabric in
"""

from .core import Core
from .finding import Door, DoorError, Found, Named, Origin
from .layer import Layer
from .nic_design import NicDesign
from .topology import Topology
from .trace_block import TraceBlock

__all__ = ["CORES", "LAYERS", "NICS", "TOPOLOGIES", "Core", "Door", "DoorError", "Found", "Layer",
           "Named", "NicDesign", "Origin", "Topology", "TraceBlock"]

NICS = Door("NIC design", "nicbed.nics", ["rings = nicbed.rtl.nic.design:DESIGN"], NicDesign)
LAYERS = Door("layer", "nicbed.layers", [
    f"{name} = nicbed.host.{name}.layer:LAYER"
    for name in ("am", "am2", "via", "gm", "unet", "vmmc", "fm", "mpl", "tcp", "mpi", "rpc",
                 "raw")], Layer)
CORES = Door("core", "nicbed.cores", [
    f"{name} = nicbed.rtl.processor.core.{name}.core:CORE"
    for name in ("serv", "picorv32", "vexriscv")], Core)
TOPOLOGIES = Door("topology", "nicbed.topologies", [
    "chain = nicbed.layouts.topologies.chain:CHAIN",
    "fat_tree = nicbed.layouts.topologies.fat_tree:FAT_TREE",
    "mesh = nicbed.layouts.topologies.mesh:MESH",
], Topology, {".toml": "nicbed.layouts.topologies.graph_file:read"})
