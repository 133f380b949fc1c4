"""Benchmarks under load: many nodes send at once, on every layer.

In the order to read: :mod:`.traffic` says who sends how much to whom and runs it over the
endpoints of a layer (:mod:`nicbed.host.endpoint`). :mod:`.cells` is what is told of a run. The
benchmarks are :mod:`.incast` and :mod:`.alltoall`, and :mod:`.vis`; and :mod:`.nics`, whose traffic
over several NICs at once is in :mod:`.every_nic`.
"""
