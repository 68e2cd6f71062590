"""Measures the built site in a browser; ``scripts/measure_site.py`` is its face."""
