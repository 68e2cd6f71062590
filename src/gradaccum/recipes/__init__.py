"""Settings for each framework, as files that can be pasted and run.

``template`` fills a recipe in, ``frameworks`` says which recipes there are and what each can do.
"""

from gradaccum.recipes.frameworks import FRAMEWORKS, PRECISIONS, STAGES, File, Framework, Run, files, sharding

__all__ = ["FRAMEWORKS", "PRECISIONS", "STAGES", "File", "Framework", "Run", "files", "sharding"]
