"""Public questions with their right answers, as requests of the contract (``cases.jsonl``), and more of their kind.

``derived.jsonl`` has questions at the edges whose answers were derived by hand, each with its derivation.
"""

import json
import re
from pathlib import Path

import pytest

from gradaccum import api

HERE = Path(__file__).parent
CASES = [
    json.loads(line)
    for name in ("cases.jsonl", "derived.jsonl")
    for line in (HERE / name).read_text(encoding="utf-8").splitlines()
]


def agrees(expected, found, tolerance):
    """Expected is a subset: of an object's keys, and of a list's beginning."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(k in found and agrees(v, found[k], tolerance) for k, v in expected.items())
    if isinstance(expected, list):
        return len(expected) <= len(found) and all(agrees(e, f, tolerance) for e, f in zip(expected, found, strict=False))
    if tolerance and isinstance(expected, int | float) and not isinstance(expected, bool):
        return found == pytest.approx(expected, rel=tolerance)
    return expected == found and isinstance(expected, bool) == isinstance(found, bool)


def error_agrees(expected, error):
    remaining = iter(error.get("nearest", []))
    return (
        all(error[key] == expected[key] for key in ("field", "code", "found") if key in expected)
        and expected.get("message_contains", "") in error["message"]
        and expected.get("hint_contains", "") in error["hint"]
        and all(any(entry == wanted for entry in remaining) for wanted in expected.get("nearest", []))
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case):
    request = case["request"]
    response = json.loads(api.run(request if isinstance(request, str) else json.dumps(request)))
    expected = case["expect"]
    assert response["ok"] is expected["ok"], response
    if expected["ok"]:
        assert agrees(expected.get("outputs", {}), response["outputs"], case.get("tolerance", 0)), response
    files = "\n".join(file["text"] for file in response.get("outputs", {}).get("files", []))
    assert [pattern for pattern in expected.get("files_match", []) if not re.search(pattern, files)] == []
    for wanted in [expected[key] for key in ("error",) if key in expected] + expected.get("errors", []):
        assert any(error_agrees(wanted, error) for error in response["errors"]), response


def test_a_wrong_answer_would_not_agree():
    assert not agrees({"replicas": 2}, {"replicas": 3}, 0)
    assert not agrees({"replicas": 2}, {}, 0)
    assert not agrees([1, 2], [1], 0)
    assert not agrees({"scale": 0.5}, {"scale": 0.51}, 1e-3)
    assert not agrees(1, True, 0)
    assert not error_agrees({"nearest": [{"a": 2}, {"a": 1}]}, {"message": "", "hint": "", "nearest": [{"a": 1}, {"a": 2}]})
