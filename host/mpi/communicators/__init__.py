"""Groups, contexts, communicators and their attributes.

In the order in which to read:

- :mod:`.groups`: Groups of ranks
- :mod:`.contexts`: The numbers by which the messages of communicators are told apart
- :mod:`.communicator`: Communicators: point-to-point calls, and communicators made of others
- :mod:`.making`: Communicators made of others
- :mod:`.intercomm`: A communicator of two groups
- :mod:`.intercommunicators`: Makes communicators of two groups, and further communicators from
  these
- :mod:`.attributes`: Attributes that programs attach to communicators, windows and datatypes
"""
