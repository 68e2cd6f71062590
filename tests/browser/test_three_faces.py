"""One package behind three faces: the printed page, the browser, the command line."""

import json
import subprocess
import sys

import pytest
from playwright.sync_api import expect

EXPECTED = {
    1: {"effective_batch": "32", "activation_memory": "2 GB"},
    4: {"effective_batch": "128", "activation_memory": "2 GB"},
}


def printed(page):
    """What stands in the page without scripts: the form's result, and the same run on four devices in the text."""
    form = {name: page.locator(f"[data-output={name}] .ga-value").inner_text() for name in EXPECTED[1]}
    quantities = page.locator("#both-ends ~ p bdi[dir=ltr]").all_inner_texts()[:4]
    assert quantities[:2] == [form["effective_batch"], form["activation_memory"]]
    return {1: form, 4: dict(zip(EXPECTED[4], quantities[2:], strict=True))}


def in_browser(calculator, replicas):
    calculator.type("replicas", str(replicas))
    expect(calculator.output("effective_batch")).to_have_text(EXPECTED[replicas]["effective_batch"])
    return {name: calculator.output(name).inner_text() for name in EXPECTED[replicas]}


def on_command_line(language, replicas):
    inputs = {"micro_batch": 4, "accumulation_steps": 8, "replicas": replicas, "activation_per_sample": "0.5 GB"}
    request = {"calculator": "accumulation", "inputs": inputs, "language": language, "view": True}
    done = subprocess.run(
        [sys.executable, "-m", "gradaccum", "run", json.dumps(request)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    shown = {output["name"]: output["text"] for output in json.loads(done.stdout)["view"]["outputs"]}
    options = [word for name, value in inputs.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    table = subprocess.run(
        [sys.executable, "-m", "gradaccum", "accumulation", *options, "--lang", language],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert all(shown[name] in table for name in EXPECTED[replicas])
    return {name: shown[name] for name in EXPECTED[replicas]}


@pytest.mark.parametrize("replicas", [1, 4])
def test_page_browser_and_command_line_agree(open_page, live, language, replicas):
    still = open_page(f"{language}/", java_script_enabled=False)
    answers = [printed(still)[replicas], in_browser(live, replicas), on_command_line(language, replicas)]
    assert answers == [EXPECTED[replicas]] * 3
