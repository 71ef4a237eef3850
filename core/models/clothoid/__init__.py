"""Super space clothoids (Casati and Bertails-Descoubes 2013): few elements whose curvatures and twist are affine."""
