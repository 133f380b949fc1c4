"""Activities that Active Messages mark, as plain numbers.

Each instant of a node's CPU belongs to the innermost activity that is open, or to the program if
none is:

- REQUEST_SEND: from the call to the last store having left the CPU. The one check that a request
  makes after it is an EMPTY_POLL with the request's number if it finds nothing.
- REQUEST_HANDLE, REPLY_HANDLE, BULK_HANDLE: from the beginning of the check (or of the call of a
  poll) that found the message, to the end of its handling. REPLY_SEND lies inside REQUEST_HANDLE or
  BULK_HANDLE.
- EMPTY_POLL: a check, or the whole spin, that found nothing yet.
- WINDOW_WAIT: a request waiting for a credit; inside it lies what it handles meanwhile.
- BULK_SEND: setting up a transfer, and each packet's descriptor.
- CONTROL: acknowledgements, NACKs, probes, time-outs, sending again.

Work that is done once in many messages (reading the room in the send window, reporting taken slots
to the NIC) belongs to the message at which it is done.
"""

from ...layouts.trace import BEGIN, END, Activity

__all__ = ["BEGIN", "END", "REQUEST_SEND", "REQUEST_HANDLE", "REPLY_SEND", "REPLY_HANDLE",
           "EMPTY_POLL", "WINDOW_WAIT", "BULK_SEND", "BULK_HANDLE", "CONTROL"]

REQUEST_SEND, REQUEST_HANDLE = int(Activity.REQUEST_SEND), int(Activity.REQUEST_HANDLE)
REPLY_SEND, REPLY_HANDLE = int(Activity.REPLY_SEND), int(Activity.REPLY_HANDLE)
EMPTY_POLL, WINDOW_WAIT = int(Activity.EMPTY_POLL), int(Activity.WINDOW_WAIT)
BULK_SEND, BULK_HANDLE = int(Activity.BULK_SEND), int(Activity.BULK_HANDLE)
CONTROL = int(Activity.CONTROL)
