"""The workflows ask for little and run what they name: no right more than needed, every action one exact commit."""

import re

import pytest
import yaml

from paths import ROOT

WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
# All a job may write: the page that is published, and the proof of who publishes it.
WRITES = {("pages.yml", "deploy"): {"pages", "id-token"}}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_action_is_one_commit_with_its_version_beside_it(name):
    used = re.findall(r"^\s*-?\s*uses:(.*)$", WORKFLOWS[name], re.MULTILINE)
    assert used
    assert [line for line in used if not re.fullmatch(r" [\w/.-]+@[0-9a-f]{40} # v\d+(\.\d+)*", line)] == []


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_reads_and_only_who_publishes_writes(name):
    workflow = yaml.safe_load(WORKFLOWS[name])
    assert workflow["permissions"] == {"contents": "read"}
    for job, steps in workflow["jobs"].items():
        rights = steps.get("permissions", {})
        assert {right for right, level in rights.items() if level != "read"} == WRITES.get((name, job), set())


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_step_keeps_the_token_or_runs_what_others_wrote(name):
    for job in yaml.safe_load(WORKFLOWS[name])["jobs"].values():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
            # A title, a branch or a comment of somebody else would become part of the script.
            assert "${{" not in step.get("run", "")
