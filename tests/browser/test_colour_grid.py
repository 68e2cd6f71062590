"""The calculators and their pictures keep their look: a coarse grid of mean colours, wide and narrow, light and dark.

``make layout`` writes tests/browser/colours.json afresh after a change that is meant to be seen. Another release of the browser
smooths letters otherwise, so the grids of one release are held against that release only.
"""

import base64
import json
import os
from itertools import product
from pathlib import Path

import pytest

KEPT = Path(__file__).with_name("colours.json")
PATHS = ["", "calculators/training-memory/", "calculators/planner/"]
STATES = list(product([1280, 360], ["light", "dark"]))
STILL = "globalThis.Worker = class extends EventTarget { postMessage() {} terminate() {} };"
# A quarter of the pixels each way is enough for a mean, and sixteen times as fast.
SMALL = {"reduced_motion": "reduce", "device_scale_factor": 0.25}
# Of one part, how many of its cells may be off by more than a step of sixteen: a word that changed is no new look.
SHARE = 0.04
BOXES = """() => Object.fromEntries([...document.querySelectorAll('.ga-calculator, .ga-picture .ga-drawing')]
  .map((part, number) => [part.className.split(' ')[0] + ' ' + number, part.getBoundingClientRect()])
  .filter(([, box]) => box.width).map(([name, box]) => [name, [box.x, box.y + scrollY, box.width, box.height].map((size) => size * devicePixelRatio)]))"""
# Each cell's mean as three hexadecimal digits.
GRIDS = """async ([picture, boxes]) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d', {willReadFrequently: true});
  canvas.drawImage(image, 0, 0);
  const mean = (x, y, width, height) => {
    const {data} = canvas.getImageData(x, y, width, height), sums = [0, 0, 0];
    for (let at = 0; at < data.length; at += 4) for (const part of [0, 1, 2]) sums[part] += data[at + part];
    return sums.map((sum) => Math.round(sum / (data.length / 4) / 17).toString(16)).join('');
  };
  const grid = ([left, top, width, height], rows) => Array.from({length: rows}, (_, row) => Array.from({length: 10}, (_, column) =>
    mean(Math.round(left + column * width / 10), Math.round(top + row * height / rows),
      Math.max(1, Math.floor(width / 10)), Math.max(1, Math.floor(height / rows)))
  ).join(' '));
  return Object.fromEntries(Object.entries(boxes).map(([name, box]) => [name, grid(box, name.startsWith('ga-calculator') ? 14 : 7)]));
}"""


@pytest.fixture(scope="session")
def kept(browser):
    release = browser.version.partition(".")[0]
    found = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    if os.environ.get("RENEW_LAYOUT"):
        return {"chromium": release, "grids": {}}
    if found["chromium"] != release:
        pytest.skip(
            f"the colours were kept with Chromium {found['chromium']}, and this is {release}: `make layout` keeps its own"
        )
    return found


@pytest.mark.parametrize("path", PATHS)
def test_calculator_and_its_pictures_keep_their_look(open_page, look, kept, language, path):
    page = open_page(f"{language}/{path}", line=STILL, **SMALL)
    off = {}
    for width, scheme in STATES:
        name = f"{language}/{path} {width} {scheme}"
        grids = look(page, width, scheme)
        if os.environ.get("RENEW_LAYOUT"):
            kept["grids"][name] = grids
            KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        assert grids.keys() == kept["grids"][name].keys(), name
        off |= {(name, part): share for part in grids if (share := differing(grids[part], kept["grids"][name][part])) > SHARE}
    assert off == {}


@pytest.fixture
def look(browser, in_scheme, at_rest):
    """The grids of a page's parts at a width, in a scheme."""
    counter = browser.new_page()

    def grids(page, width, scheme):
        page.set_viewport_size({"width": width, "height": 900})
        in_scheme(page, scheme, reduced_motion="reduce")
        at_rest(page)
        picture = page.screenshot(full_page=True, animations="disabled", caret="hide")
        return counter.evaluate(GRIDS, [base64.b64encode(picture).decode(), page.evaluate(BOXES)])

    yield grids
    counter.close()


def differing(grid, other):
    """The share of cells whose colour is another."""
    cells = list(zip(" ".join(grid).split(), " ".join(other).split(), strict=True))
    return sum(any(abs(int(a, 16) - int(b, 16)) > 1 for a, b in zip(*pair, strict=True)) for pair in cells) / len(cells)


def test_the_measure_notices_another_colour():
    assert differing(["fff 48c"], ["efe 59b"]) == 0
    assert differing(["fff 48c"], ["fff 222"]) == 0.5


def test_the_measure_notices_a_lost_colour_and_a_lost_picture(open_page, look):
    page = open_page("en/calculators/training-memory/", line=STILL, **SMALL)
    before = look(page, 360, "light")
    assert look(page, 360, "light") == before
    pictures = [name for name in before if name.startswith("ga-drawing")]
    page.evaluate("document.querySelector('.ga-drawing').style.setProperty('--ga-optimizer-states', 'transparent')")
    page.evaluate("document.querySelectorAll('.ga-drawing')[1].style.display = 'none'")
    after = look(page, 360, "light")
    assert before.keys() - after.keys() == {pictures[1]}
    assert differing(after[pictures[0]], before[pictures[0]]) > SHARE
