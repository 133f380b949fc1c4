"""Programs over Split-C: a matrix product and two sorts, a Fourier transform, connected components
and waves on a graph, as the studies of parallel machines ran them; and the NAS kernels over MPI.

A program over Split-C is a module. ``Program(node, given, parameters)`` is one process of it, with
the ``procedures`` that others may run there; its ``run(sc, phases)`` returns the process's part of
the answer. ``PHASES`` lists its phases, ``defaults`` completes its parameters, ``needed`` is the
memory that they take, ``inputs`` makes its data, ``check`` compares the answer with numpy's or a
serial run's, and ``messages`` says which messages it takes; ``traffic``, where it is there, says
where they go, and ``turns`` how many phases a process has. Where there are layouts for it, ``work``
tells how many data it computes with, of which parameters ``SIZES`` decide, and ``BY_DATA`` whether
its messages depend on the data. numpy computes; what the computation
takes is charged, by the number of data (knobs ``apps.*``).

In the order in which to read:

- :mod:`.phases`: Phases of a program, each computation or communication, marked in the trace
- :mod:`.streaming`: Memory traffic of a computation whose data do not fit into the CPU's cache
- :mod:`.computing`: Charges computation, and polls during it
- :mod:`.data`: Seeded keys and matrices; numpy arrays in a node's memory
- :mod:`.counts`: Counts that all processes exchange, so that each knows where its data belong
- :mod:`.mm`: Matrix product by blocks, which are fetched while others are multiplied
- :mod:`.sample_sort`: Sample sort
- :mod:`.radix_sort`: Radix sort
- :mod:`.blocks`: Blocks of a space, one a process, and which of them lie on one node
- :mod:`.fft`: Fourier transform of a cube, in slabs
- :mod:`.lattice`: A lattice with random edges, of which each process has a block of nodes
- :mod:`.components`: Components that processes join into larger ones: the algorithm alone
- :mod:`.con`: Connected components of a lattice
- :mod:`.em3d`: Electromagnetic waves on a graph
- :mod:`.nas`: The NAS kernels over MPI
"""
