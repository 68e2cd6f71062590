"""The benchmark: every claim of the site measured on a device, judged, written down and drawn."""

import sys
from pathlib import Path

# Whoever runs `scripts/benchmark.py` from a clone need not install the package first.
sys.path.append(str(Path(__file__).resolve().parents[2] / "src"))
