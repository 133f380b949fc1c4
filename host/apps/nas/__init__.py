"""The NAS kernels over MPI, from the specification of NPB 3.3: real arithmetic in numpy, on data
that are really transferred.

A kernel is a class: ``Kernel("S", 4)`` is its problem of class S on 4 processes, which all of them
share; ``run(process)`` is one of them. It computes through ``process.work``, which charges what the
computation takes (knobs ``apps.*``), and communicates by ``process.comm``. ``verify`` compares the
processes' answers with published values, ``messages`` says which messages there are.

In the order in which to read:

- :mod:`.process`: A process of a kernel: its communicator and its arrays, its computation, and its
  timed part
- :mod:`.kernel`: The base of every kernel: a problem of a class, its processes, its messages, its
  verification
- :mod:`.kernels`: The kernels by name, each imported when first needed
- :mod:`.generator`: The kernels' random numbers: x ← 5^13 x mod 2^46, from anywhere in the sequence
- :mod:`.integer_sort`: IS: keys are ranked by a bucket sort, ten times
- :mod:`.parallel`: EP: pairs of Gaussian deviates, counted by their size
- :mod:`.sparse`: The matrix of CG: the sum of outer products of sparse random vectors
- :mod:`.conjugate_gradient`: CG: the smallest eigenvalue of a sparse matrix, by inverse iteration
- :mod:`.multigrid`: MG: four V cycles of multigrid for ∇²u = v on a periodic cube
- :mod:`.fourier`: FT: a diffusion equation on a periodic box by Fourier transforms
- :mod:`.flow`: LU, SP, BT: a viscous compressible flow in a cube, solved three ways
"""
