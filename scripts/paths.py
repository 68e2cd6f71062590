"""Where things lie in the project, said once for all scripts and tests."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
NODE_MODULES = ROOT / "node_modules"
VENDOR = BUILD / "vendor"
SITE = ROOT / "site"
DOCS = ROOT / "docs"
RELIABILITY = DOCS / "data" / "reliability"
CONSTRAINTS = ROOT / "constraints"

CONFIGS = {"ar": ROOT / "mkdocs.yml", "en": ROOT / "mkdocs.en.yml"}

# Both sites share what lies here; pages find it through <meta name="ga-base">.
# In the finished site the folder's name goes on with a digest of its content: assets/ga-0123abcd.
SHARED_ASSETS = Path("assets") / "ga"


def shared_assets(site: Path = SITE) -> Path:
    """That folder in a finished site; where none is built, the path that none ends at."""
    return next((site / SHARED_ASSETS.parent).glob(f"{SHARED_ASSETS.name}-*"), site / SHARED_ASSETS)
