"""What goes wrong with gradient accumulation, run in plain Python: one module per pitfall, the wrong way beside the right way.

Arithmetic is exact (integers, ``Fraction``) or, where a root, a logarithm or an exponential is needed, correct to more digits
than a double has, so that every interpreter finds the same numbers.
"""
