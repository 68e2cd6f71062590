"""What must hold of every answer, whatever was asked: its shape, and identities between its numbers and its inputs."""

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from gradaccum.messages import LANGUAGES

CODES = {
    *(
        "malformed",
        "unknown_calculator",
        "unknown_field",
        "unknown_value",
        "missing",
        "wrong_type",
        "not_positive",
        "not_finite",
    ),
    *("too_large", "unit_missing", "not_divisible", "inconsistent", "unsupported_model"),
}
ARABIC = re.compile("[\u0600-\u06ff]")
# A message whose placeholder was not filled; a sentence may quote what the reader entered, which stands in isolates or quotes.
UNFILLED = re.compile(r"\{[a-z_]+\}")


class ViolationError(AssertionError):
    """An answer that breaks a rule."""


def hold(condition: object, rule: str, *details: object) -> None:
    """Raise ``ViolationError`` unless the condition is true."""
    if not condition:
        raise ViolationError(rule, *details)


def check(request: str, response: str) -> dict[str, Any]:
    """The decoded response, once it is known to be in order."""
    response.encode("utf-8")
    found: dict[str, Any] = json.loads(response, parse_constant=_no_constant)
    if found["ok"]:
        _check_answer(found, request)
    else:
        _check_refusal(found)
    return found


def _no_constant(name: str) -> None:
    raise ViolationError("a number that JSON lacks", name)


def _check_refusal(found: dict[str, Any]) -> None:
    hold(set(found) == {"ok", "calculator", "errors"}, "keys of a refusal", sorted(found))
    hold(found["errors"], "a refusal names a fault")
    for error in found["errors"]:
        hold({"field", "code", "message", "hint"} <= set(error), "keys of an error", sorted(error))
        hold(error["code"] in CODES, "a code of the contract", error["code"])
        hold(isinstance(error["field"], str) and error["message"], "an error has a field and a message", error)
        hold(len(error["message"]) < 3000, "a message one can read", len(error["message"]))


def _check_answer(found: dict[str, Any], request: str) -> None:
    hold({"ok", "calculator", "inputs", "outputs", "steps", "notes"} <= set(found), "keys of an answer", sorted(found))
    asked = json.loads(request)
    hold(found["calculator"] == asked["calculator"], "the calculator that was asked")
    hold(found["outputs"], "an answer has outputs")
    language = asked.get("language", "en")
    hold(language in LANGUAGES, "a language")
    for step in found["steps"]:
        hold(step["tex"] and step["text"], "a step has a formula and words")
        hold(step["tex"].count("{") == step["tex"].count("}"), "braces of a formula", step["tex"])
    words = [note["message"] for note in found["notes"]] + [step["text"] for step in found["steps"]]
    for message in words:
        hold(message and not UNFILLED.search(message), "a message is filled", message)
        hold(language == "en" or ARABIC.search(message), "a message in Arabic", message)
    if asked.get("view"):
        hold(found["view"]["text"] and found["view"]["command"], "a view has text and a command")
    rule = RULES.get(found["calculator"])
    if rule:
        rule(found["inputs"], found["outputs"])


def _accumulation(given: dict[str, Any], out: dict[str, Any]) -> None:
    b, a, g = given["micro_batch"], given["accumulation_steps"], out["replicas"]
    hold(out["effective_batch"] == b * a * g, "E = b a g")
    if "activation_per_sample" in given:
        hold(out["activation_memory"] == b * given["activation_per_sample"], "M = b A")
        hold(out["whole_batch_activation_memory"] == a * out["activation_memory"], "a M")
    if "sequence_length" in given:
        hold(out["tokens_per_update"] == out["effective_batch"] * given["sequence_length"], "tokens of an update")
    if "world_size" in given:
        names = ("tensor_parallel", "pipeline_parallel", "context_parallel", "sequence_parallel")
        hold(given["world_size"] == g * math.prod(given.get(name, 1) for name in names), "g = world / degrees")


def _split(given: dict[str, Any], out: dict[str, Any]) -> None:
    names = ("effective_batch", "micro_batch", "accumulation_steps", "replicas")
    hold(out[names[0]] == math.prod(out[name] for name in names[1:]), "E = b a g")
    hold(all(out[name] == given[name] for name in names if name in given), "what was given stays")
    if "framework" in given:
        hold(out["files"] and all(file["name"] and file["text"] for file in out["files"]), "a recipe has files")
        hold("{{" not in "".join(file["text"] for file in out["files"] if file["language"] == "python"), "a template is filled")


def _updates(given: dict[str, Any], out: dict[str, Any]) -> None:
    a, epochs = given["accumulation_steps"], given["epochs"]
    samples = given["dataset_size"] * given["samples_per_prompt"]
    m = out["micro_batches_per_epoch"]
    slots = m * given["micro_batch"] * given["replicas"]
    one = given["micro_batch"] * given["replicas"]
    hold(
        samples - one < slots <= samples if given["drop_last"] else samples <= slots < samples + one,
        "micro-batches cover the data",
    )
    hold(out["total_updates"] <= m * epochs, "no more updates than micro-batches")
    hold(0 <= out["last_window_micro_batches"] < max(a, 2), "a rest is smaller than a window")
    if given["last_window"] == "carry":
        hold(out["total_updates"] == m * epochs // a, "windows of the run")
    else:
        up = given["last_window"] == "step"
        hold(out["total_updates"] == epochs * (-(-m // a) if up else m // a), "windows of each epoch")


def _learning_rate(given: dict[str, Any], out: dict[str, Any]) -> None:
    ratio = given["new_effective_batch"] / given["effective_batch"]
    factor = {"linear": ratio, "square-root": math.sqrt(ratio), "none": 1.0}[given["rule"]]
    hold(math.isclose(out["factor"], factor, rel_tol=1e-9), "the rule's factor", out["factor"], factor)
    hold(math.isclose(out["new_learning_rate"], given["learning_rate"] * factor, rel_tol=1e-9), "the new rate")
    if "new_beta2" in out:
        hold(0 <= out["new_beta2"] <= 1, "a beta between 0 and 1")


def _loss_weights(given: dict[str, Any], out: dict[str, Any]) -> None:
    rows = zip(given["tokens"], out["token_weights"], strict=True)
    pairs = [(n, w) for tokens, weights in rows for n, w in zip(tokens, weights, strict=True)]
    hold(all((w is None) == (n == 0) for n, w in pairs), "no weight without a target")
    total = math.fsum(n * w for n, w in pairs if n)
    filled = sum(n > 0 for n, _ in pairs)
    hold(out["total_tokens"] == sum(n for n, _ in pairs), "N")
    hold(math.isclose(total, out["total_tokens"] * filled / len(pairs), rel_tol=1e-9), "weights share out N")


def _lora(given: dict[str, Any], out: dict[str, Any]) -> None:
    trained, base = out["trainable_parameters"], out["base_parameters"]
    hold(trained > 0 and base > 0, "parameters")
    hold(sum(row["parameters"] for row in out["by_module"]) == trained, "modules add up")
    hold(trained % given["rank"] == 0, "adapters are whole ranks")
    hold(math.isclose(out["trainable_fraction"], trained / (trained + base), rel_tol=1e-12), "the fraction")
    hold(out["adapter_bytes"] == trained * (4 if given["adapter_dtype"] == "fp32" else 2), "bytes of adapters")


def _training_memory(_: dict[str, Any], out: dict[str, Any]) -> None:
    peaks = [phase["peak"] for phase in out["phases"]]
    hold(out["peak"] == max(peaks), "the peak is that of a phase")
    for phase in out["phases"]:
        hold(phase["peak"] == sum(phase["parts"].values()), "the parts of a phase add up", phase)
        hold(all(size >= 0 for size in phase["parts"].values()), "no negative part", phase)
    hold(out["phases"][-1]["phase"] == "optimizer_step", "a step ends with the optimizer")
    for name in ("weights", "optimizer_states"):
        hold(out["peak"] >= out[name], "a peak holds its parts", name)
    hold(out["peak"] >= out["weights"] + out["gradients"] + out["optimizer_states"], "W + G + S")
    hold(out["activations"] == sum(row["bytes"] for row in out["ledger"]), "the ledger adds up")
    if "fits" in out:
        hold(out["fits"] == (out["headroom"] >= 0), "a verdict and its headroom")
        hold(not out["fits"] or out["largest_micro_batch"] >= 1, "what fits can grow no smaller")


def _plan(given: dict[str, Any], out: dict[str, Any]) -> None:
    verdict = out["verdict"]
    hold(verdict in ("fits", "accumulation_cannot_help", "not_divisible"), "a verdict", verdict)
    batch, g = given["effective_batch"], out["replicas"]
    hold((verdict == "not_divisible") == (batch % g != 0), "divisible or not")
    for split in out.get("nearest", []):
        hold(split["effective_batch"] == split["micro_batch"] * split["accumulation_steps"] * g, "a nearest batch is one")
    budget = given.get("memory_budget")
    for plan in out.get("plans", []):
        hold(plan["effective_batch"] == batch == plan["micro_batch"] * plan["accumulation_steps"] * g, "E is kept")
        hold(plan["headroom"] >= 0 and plan["peak"] > 0, "a plan fits")
        hold(budget is None or plan["peak"] + plan["headroom"] == budget, "peak and headroom make the budget")
    hold((verdict == "fits") == bool(out.get("plans")), "plans or none")
    hold(len(out.get("plans", [])) <= given["most_plans"], "no more plans than asked")
    if verdict == "accumulation_cannot_help":
        hold(out["shortfall"] > 0, "something lacks")
    if verdict == "fits" and "activation_per_sample" in given and not ({"model", "config"} & set(given)):
        best = out["plans"][0]
        hold(best["peak"] == given["fixed_memory"] + best["micro_batch"] * given["activation_per_sample"], "fixed + b A")


def _experiment(_: dict[str, Any], out: dict[str, Any]) -> None:
    numbers = [value for value in out.values() if isinstance(value, int | float)]
    hold(all(math.isfinite(Fraction(value)) for value in numbers), "finite numbers")


RULES: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "accumulation": _accumulation,
    "batch_split": _split,
    "recipe": _split,
    "updates": _updates,
    "learning_rate": _learning_rate,
    "loss_weights": _loss_weights,
    "lora": _lora,
    "training_memory": _training_memory,
    "plan": _plan,
    "experiment": _experiment,
}
