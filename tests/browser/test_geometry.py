"""The calculators keep their layout: where their named parts stand, at two widths and in both directions.

``make layout`` writes tests/browser/layout.json afresh after a change that is meant to move them. Sideways a part may be off
by a few pixels; downwards by more, since lines of text may break otherwise in another release of the same browser.
"""

import json
import os
from itertools import product
from pathlib import Path

import pytest

KEPT = Path(__file__).with_name("layout.json")
PATHS = ["", "calculators/training-memory/", "calculators/planner/"]
WIDTHS = [360, 1280]
SIDEWAYS, DOWNWARDS, SHARE = 6, 40, 0.08
STILL = "globalThis.Worker = class extends EventTarget { postMessage() {} terminate() {} };"
MEASURE = """() => {
  const frame = document.querySelector('.ga-calculator').getBoundingClientRect();
  const parts = {form: '.ga-form', field: '.ga-field:nth-of-type(2)', figure: '.ga-output.ga-primary', second: '.ga-output.ga-primary ~ .ga-output',
                 list: '.ga-result > .ga-list', steps: '.ga-steps', buttons: '.ga-copy', picture: '.ga-picture .ga-drawing'};
  const found = {};
  for (const [name, selector] of Object.entries(parts)) {
    const box = document.querySelector(selector)?.getBoundingClientRect();
    if (box) found[name] = [box.x - frame.x, box.y - frame.y, box.width, box.height].map(Math.round);
  }
  return {calculator: [frame.x, 0, frame.width, frame.height].map(Math.round), ...found};
}"""


@pytest.mark.parametrize(("path", "width"), list(product(PATHS, WIDTHS)))
def test_parts_of_a_calculator_stand_where_they_stood(open_page, at_rest, language, path, width):
    page = open_page(f"{language}/{path}", line=STILL, viewport={"width": width, "height": 900}, reduced_motion="reduce")
    at_rest(page)
    measured = page.evaluate(MEASURE)
    name = f"{language}/{path} {width}"
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    if os.environ.get("RENEW_LAYOUT"):
        kept[name] = measured
        KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    assert measured.keys() == kept[name].keys()
    assert {part: (box, kept[name][part]) for part, box in measured.items() if not near(box, kept[name][part])} == {}


def near(box, kept):
    """Whether a part stands where it stood."""
    room = [SIDEWAYS, max(DOWNWARDS, SHARE * kept[1]), SIDEWAYS, max(DOWNWARDS, SHARE * kept[3])]
    return all(abs(one - other) <= most for one, other, most in zip(box, kept, room, strict=True))


def test_the_measure_notices_what_moved():
    assert near([0, 10, 100, 50], [3, 40, 98, 60])
    assert not near([0, 10, 100, 50], [20, 10, 100, 50])
    assert not near([0, 10, 100, 50], [0, 10, 100, 120])
