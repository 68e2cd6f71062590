"""Record what PyTorch and Transformers keep in memory: one JSON file for each model family.

Needs torch, transformers and peft in the versions that the recording names, and a C++ compiler.

    python scripts/record_oracle.py                      all families, all configurations; takes hours on two cores
    python scripts/record_oracle.py llama --only tiny-llama3
    python scripts/record_oracle.py gpt2 --without-peaks  saved bytes alone, which is quick; peaks can be added later
    python scripts/record_oracle.py gpt2 --check          derive the tiny cells again and compare with the recording
    python scripts/record_oracle.py gpt2 --check-on-cpu   run them for real, on the CPU, and compare what is comparable

A file that is there already is completed, not begun again: remove it to record it afresh.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from gradaccum.torch import cuda

FOLDER = Path(__file__).parent.parent / "tests" / "oracle" / "recording"


def main() -> None:
    """Record, or compare with the recording."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", help="families to record; all when none is named")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="configurations to record")
    parser.add_argument("--without-peaks", action="store_true", help="leave out the live-byte peaks")
    parser.add_argument("--check", action="store_true", help="compare instead of recording")
    parser.add_argument("--check-on-cpu", action="store_true", help="compare real runs instead of recording")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the files are")
    arguments = parser.parse_args()

    cuda.load()
    cuda.answer_transformers()
    # These import torch, which must find the library already there.
    from oracle.check import cpu_differences, shape_differences  # noqa: PLC0415 - see above
    from oracle.families import FAMILIES  # noqa: PLC0415 - see above
    from oracle.recording import record_family  # noqa: PLC0415 - see above

    families = arguments.families or list(FAMILIES)
    if arguments.check or arguments.check_on_cpu:
        check = shape_differences if arguments.check else cpu_differences
        if found := [line for family in families for line in check(arguments.folder, family)]:
            raise SystemExit("\n".join(found))
        return
    for family in families:
        record_family(family, arguments.folder, arguments.only, peaks=not arguments.without_peaks)


if __name__ == "__main__":
    main()
