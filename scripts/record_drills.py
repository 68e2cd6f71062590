"""Run the drills among the tests, `make drills`, and write how many were tried and passed to docs/data/reliability.

Each row of a measure is what one or a few tests try; their cases (languages, ways to fail) are counted. It needs the built
site and the browser that ``make browser`` provides.
"""

import datetime as dt
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from paths import RELIABILITY, ROOT
from revision import commit

DRILLS = {
    "network_drills": {
        "refused": (
            "browser/test_loading.py::test_blocked_cdn_falls_over_to_the_copy_on_the_site",
            "browser/test_loading.py::test_silent_cdn_falls_over_too",
        ),
        "both_refused": (
            "browser/test_loading.py::test_both_blocked_keeps_the_result_says_so_in_time_and_retries",
            "browser/test_loading.py::test_missing_wheel_is_noticed",
        ),
        "slow": ("browser/test_drills.py::test_what_comes_slowly_or_under_another_type_is_taken",),
        "cut": (
            "browser/test_drills.py::test_what_is_cut_or_is_something_else_comes_from_the_site",
            "browser/test_loading.py::test_file_with_another_digest_is_not_run",
        ),
        "sign_in": ("browser/test_drills.py::test_a_network_that_answers_with_its_own_page",),
        "killed": ("browser/test_drills.py::test_python_that_is_killed_starts_again",),
        "memory": ("browser/test_drills.py::test_python_without_memory_starts_again",),
        "storage": ("browser/test_drills.py::test_a_browser_that_keeps_nothing",),
        "damaged": (
            "browser/test_kept_python.py::test_damaged_memory_is_replaced",
            "browser/test_kept_python.py::test_damaged_file_of_pyodide_is_fetched_anew",
        ),
        "older_worker": (
            "browser/test_offline.py::test_open_page_goes_on_when_the_site_changes_and_the_next_navigation_brings_the_new_one",
            "browser/test_offline.py::test_each_version_serves_its_own_files_and_the_old_one_ends_with_its_last_page",
            "browser/test_offline.py::test_page_comes_from_the_network_while_there_is_one",
        ),
        "no_network": (
            "browser/test_offline.py::test_every_calculator_works_without_a_network",
            "browser/test_offline.py::test_kept_page_is_shown_when_the_network_stays_silent",
        ),
        "errors": ("browser/test_offline.py::test_errors_are_never_kept",),
    },
    "security": {
        "typed": ("browser/test_security.py::test_hostile_address_stays_text",),
        "config": ("browser/test_security.py::test_hostile_names_in_a_config_stay_text",),
        "search": ("browser/test_security.py::test_hostile_search_stays_text",),
        "policy": (
            "docs/test_content_security.py::test_every_page_begins_with_the_one_policy",
            "browser/test_security.py::test_no_kind_of_page_breaks_its_policy",
            "browser/test_security.py::test_colours_search_and_links_keep_to_the_policy",
            "browser/test_security.py::test_root_pages_keep_to_their_policy",
        ),
        "got_in": ("browser/test_security.py::test_what_got_into_a_page_can_do_nothing",),
        "one_host": (
            "docs/test_content_security.py::test_the_worker_alone_may_ask_the_pinned_cdn",
            "docs/test_release.py::test_the_site_serves_the_bytes_whose_hash_the_page_expects",
            "browser/test_loading.py::test_file_with_another_digest_is_not_run",
        ),
        "workflows": ("docs/test_workflows.py",),
        "licences": ("docs/test_licences.py",),
    },
}
"""By measure and row the tests that are run for it."""


def main() -> None:
    """Run the tests of each measure and record it; fail where one fails."""
    failed = False
    RELIABILITY.mkdir(parents=True, exist_ok=True)
    for name, rows in DRILLS.items():
        record = {
            "name": name,
            "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
            "commit": commit(),
            "command": "make drills",
        } | counted(rows, *run(sorted({test for tests in rows.values() for test in tests})))
        (RELIABILITY / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        print(name, record["figures"])
        failed |= record["figures"]["passed"] < record["figures"]["drills"]
    sys.exit(failed)


def run(tests: list[str]) -> tuple[Counter[str], Counter[str]]:
    """How many cases each test holds, and how many of them pass."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        command = [sys.executable, "-m", "pytest", "-q", *(f"tests/{test}" for test in tests), f"--junitxml={results}"]
        subprocess.run(command, cwd=ROOT, check=False)
        (suite,) = ET.parse(results).getroot()  # noqa: S314 - pytest wrote it
    tried: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for case in suite:
        test = (
            f"{case.get('classname', '').removeprefix('tests.').replace('.', '/')}.py::{case.get('name', '').partition('[')[0]}"
        )
        tried[test] += 1
        passed[test] += not len(case)
    return tried, passed


def counted(rows: dict[str, tuple[str, ...]], tried: Counter[str], passed: Counter[str]) -> dict[str, Any]:
    """The rows and their sum; a whole file stands for all of its tests. Errors: ``ValueError`` for a test that is gone.

    >>> counted({"slow": ("a.py",)}, Counter({"a.py::test_b": 2}), Counter({"a.py::test_b": 1}))["figures"]
    {'drills': 2, 'passed': 1}
    """
    found = []
    for row, tests in rows.items():
        held = {test: [one for one in tried if one == test or one.startswith(f"{test}::")] for test in tests}
        if missing := [test for test, cases in held.items() if not cases]:
            raise ValueError(f"no such test: {', '.join(missing)}")
        cases = [one for several in held.values() for one in several]
        found.append({"drill": row, "drills": sum(tried[one] for one in cases), "passed": sum(passed[one] for one in cases)})
    return {"figures": {key: sum(row[key] for row in found) for key in ("drills", "passed")}, "rows": found}


if __name__ == "__main__":
    main()
