"""Where things lie in the project, said once for all scripts and tests."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
NODE_MODULES = ROOT / "node_modules"
VENDOR = BUILD / "vendor"
SITE = ROOT / "site"
DOCS = ROOT / "docs"
CONSTRAINTS = ROOT / "constraints"

# Both sites share what lies here; pages find it through <meta name="ga-base">.
SHARED_ASSETS = Path("assets") / "ga"
