"""Gradient accumulation and training memory, computed exactly.

The two lines everything rests on are ``E = b * a * g`` (effective batch = micro-batch x accumulation steps x data-parallel
replicas) and ``M = b * A`` (peak activation memory = micro-batch x activation cost of one sample).
"""

__version__ = "0.1.0"
