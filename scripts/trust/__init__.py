"""What tries to break the package, and what it measured: fuzzing, parity of Pythons, mutation testing."""
