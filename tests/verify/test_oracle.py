"""The recording against PyTorch itself: every tiny cell is derived again, on shapes and in real runs on the CPU.

Each check runs in a process of its own: it lets PyTorch's CPU build believe in a GPU, which other tests must not see.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "tests" / "oracle" / "recording"
FAMILIES = [
    "bert",
    "gemma2",
    "gemma3_text",
    "gpt2",
    "gpt_neox",
    "granite",
    "llama",
    "mistral",
    "mixtral",
    "olmo2",
    "phi3",
    "qwen2",
    "qwen3",
    "qwen3_moe",
    "vit",
]


def check(family: str, option: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "record_oracle.py"), family, option, *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_recorded_family_is_checked() -> None:
    assert sorted(path.stem for path in RECORDING.glob("*.json")) == FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("option", ["--check", "--check-on-cpu"])
def test_the_recording_comes_out_again(family: str, option: str) -> None:
    result = check(family, option)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("option", ["--check", "--check-on-cpu"])
def test_one_byte_more_is_found(option: str, tmp_path: Path) -> None:
    document = json.loads((RECORDING / "vit.json").read_text())
    document["models"] = [model for model in document["models"] if model["name"] == "tiny-vit"]
    [record] = [
        cell
        for cell in document["models"][0]["cells"]
        if (cell["attention"], cell["checkpointing"], cell["precision"], cell["method"]) == ("eager", "none", "fp32", "full")
    ]
    record["saved"] = {point: size + 1 for point, size in record["saved"].items()}
    (tmp_path / "vit.json").write_text(json.dumps(document))
    result = check("vit", option, "--folder", str(tmp_path))
    assert result.returncode == 1
    assert "tiny-vit fp32 full" in result.stderr
