"""Tells how sure a figure is: what typical values, which nobody measured, do to test figures.

In the order in which to read:

- :mod:`.hypercube`: Points of a Latin hypercube
- :mod:`.refit`: Chooses the fitted knobs again at each point, by linear steps
- :mod:`.weighting`: Weights of points, by how well they meet the figures of the fit; quantiles
- :mod:`.shares`: Shares of the typical values in a figure's variance
- :mod:`.families`: Machines that have the same typical and fitted values, and what is measured
  on them
- :mod:`.experiment`: Measures a study at the points
- :mod:`.result`: Intervals and shares of the figures, and their convergence
- :mod:`.stored`: Results that come with nicbed
- :mod:`.section`: Their part of docs/explanation/reproduction.md
- :mod:`.drawing`: Their picture
"""
