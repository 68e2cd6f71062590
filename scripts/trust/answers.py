"""Answer a file of requests, one to a line, and write a digest of each answer: run by every Python, and inside Pyodide.

answers.py REQUESTS DIGESTS
"""

import hashlib
import json
import sys
from pathlib import Path

from gradaccum import api


def main(source: str, target: str) -> None:
    """The first twelve digits of each answer's SHA-256 after the name of the Python."""
    lines = [json.dumps({"python": sys.version.split()[0], "platform": sys.platform})]
    with Path(source).open(encoding="ascii") as requests:
        answers = (api.run(json.loads(line)) for line in requests)
        lines += [hashlib.sha256(answer.encode("utf-8")).hexdigest()[:12] for answer in answers]
    Path(target).write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
