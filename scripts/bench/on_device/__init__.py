"""The part of the benchmark that needs PyTorch: what measures."""
