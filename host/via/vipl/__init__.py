"""The calls of VIPL, one file for each concern.

In the order in which to read:

- :mod:`.vipl`: VIPL: the Virtual Interface Provider Library of one process, all calls under their
  own names
- :mod:`.caller`: Common base of all VIPL calls: the owner of the library, and the checks of
  arguments
- :mod:`.opening`: VipOpenNic, VipCloseNic, VipQueryNic, VipErrorCallback
- :mod:`.registering`: VipCreatePtag, VipDestroyPtag; VipRegisterMem, VipDeregisterMem, VipQueryMem,
  VipSetMemAttributes
- :mod:`.endpoints`: VipCreateVi, VipDestroyVi, VipQueryVi, VipSetViAttributes
- :mod:`.connecting`: VipConnectWait, VipConnectAccept, VipConnectReject, VipConnectRequest;
  VipConnectPeerRequest, VipConnectPeerDone, VipConnectPeerWait; VipDisconnect
- :mod:`.posting`: VipPostSend, VipPostRecv
- :mod:`.completing`: VipSendDone, VipRecvDone, VipSendWait, VipRecvWait, VipSendNotify,
  VipRecvNotify
- :mod:`.completion_queues`: VipCreateCQ, VipDestroyCQ, VipResizeCQ, VipCQDone, VipCQWait,
  VipCQNotify
- :mod:`.naming`: VipNSInit, VipNSGetHostByName, VipNSGetHostByAddr, VipNSShutdown
"""
