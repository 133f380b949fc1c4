"""The simulated applications of NAS: a viscous compressible flow in a cube, solved three ways.

All have the same equations, boundary values and forcing, for which the steady flow is a known
polynomial. They differ in how an iteration approximates the implicit step, and so in what they
send.

In the order in which to read:

- :mod:`.equations`: The flow's equations: residual, Jacobians, the exact solution, the start
- :mod:`.lu`: LU: two sweeps through the cube, plane by plane, each a wave over the processes
- :mod:`.wave`: A wave through planes of points, diagonal by diagonal
- :mod:`.multipartition`: The cube cut into q³ cells for q² processes, q to each
- :mod:`.alternating`: The part that SP and BT share: an implicit step is a product of three, one
  for each axis, and each of these is systems along the lines of that axis
- :mod:`.sp`: SP: scalar pentadiagonal systems of characteristic variables
- :mod:`.bt`: BT: block tridiagonal systems
"""
