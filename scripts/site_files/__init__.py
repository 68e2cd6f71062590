"""What the built pages load: one stylesheet, files named by their content, and what keeps the site without a network."""

from pathlib import Path

from site_files.offline import write_manifests, write_worker
from site_files.scripts import strip_comments
from site_files.stylesheet import combine_stylesheets
from site_files.versions import name_by_content


def finish_files(site: Path) -> None:
    """Finish the files beside the finished pages of ``site``; ``write_worker`` comes last, when nothing changes any more."""
    strip_comments(site)
    combine_stylesheets(site)
    name_by_content(site)
    write_manifests(site)


__all__ = ["finish_files", "write_worker"]
