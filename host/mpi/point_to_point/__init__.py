"""Sends and receives: requests, matching, short and long messages.

In the order in which to read:

- :mod:`.requests`: Requests: sends and receives that have begun
- :mod:`.generalised_request`: Generalised requests: those that a program completes
- :mod:`.long_messages`: The base of both ends of a message: the ways of long messages, and
  registered memory for them
- :mod:`.sending`: Sends: eager, or by a request and a reply
- :mod:`.receiving`: Receives: messages that arrive, matched or kept, and the receiver's part of
  long ones
- :mod:`.matching`: Matching: posted receives, and messages that nobody waits for, by context
- :mod:`.attached_buffer`: The attached buffer of buffered sends
- :mod:`.status`: The result of a receive
"""
