"""The serial line: bytes, frames, words.

In the order in which to read:

- :mod:`.uart`: The bytes of a serial line: 8 data bits, no parity, 1 stop bit
- :mod:`.deframer`: Receives frames from the bytes of a serial line
- :mod:`.framer`: Sends frames as bytes on a serial line
- :mod:`.serial_link`: Frames over a serial line, both ways: the board's end
- :mod:`.fields`: Words of the serial protocol as Amaranth layouts
"""
