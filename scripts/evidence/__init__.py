"""What stands behind the figures: published measurements, recordings of PyTorch, other calculators."""
