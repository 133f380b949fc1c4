"""The registers of wire_nic_verilog: its logic decodes them, its driver uses them."""

from nicbed import Access, Register

__all__ = ["QUEUE", "REGISTERS"]

QUEUE = 8
"""Frames that wait in the NIC to be sent."""

REGISTERS = (
    Register("version", 0x00, Access.RO, 8, "of the registers", 1),
    Register("node", 0x08, Access.RO, 8, "the wire address"),
    Register("control", 0x10, Access.RW, 1, "bit 0: frames that come are put into the ring"),
    Register("send_header", 0x18, Access.RW, 64, "wire header of the next frame; its length is of "
                                                 "1 to nic.mtu bytes"),
    Register("send_address", 0x20, Access.WO, 32, "where the frame's bytes are in host memory, a "
                                                  "multiple of 8; the write sends the frame"),
    Register("sent", 0x28, Access.RO, 16, "frames read from host memory, modulo 65536"),
    Register("receive_base", 0x30, Access.RW, 32, "address of the ring in host memory, a multiple "
                                                  "of 8"),
    Register("taken", 0x38, Access.RW, 16, "slots that software has taken, modulo 65536"),
    Register("filled", 0x40, Access.RO, 16, "slots that are filled, modulo 65536"),
    Register("received", 0x48, Access.RO, 32, "frames put into slots"),
    Register("dropped", 0x50, Access.RO, 32, "frames dropped: wrong CRC, length or destination"),
    Register("refused", 0x58, Access.RO, 32, "frames to send that found the queue full"),
)
