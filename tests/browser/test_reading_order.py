"""Formulas and quantities read from left to right inside Arabic text: by where the letters stand, not by what CSS says."""

from itertools import pairwise

import pytest

PAGES = ["", "learn/formula/", "learn/memory/", "calculators/batch-split/", "calculators/updates/", "calculators/loss-weights/"]

# For every visible quantity such as "2,000,000,000 GB": where its number and its unit stand.
QUANTITIES = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector('.md-content'), NodeFilter.SHOW_TEXT);
  const box = (node, from, to) => {
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 0);
    return rects.length === 1 ? rects[0] : null;
  };
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest('.katex, pre, script, style')) continue;
    for (const match of node.data.matchAll(/([0-9][0-9.,]*)[ \\u00a0]+([kKMGTP]i?B)\\b/g)) {
      const number = box(node, match.index, match.index + match[1].length);
      const unit = box(node, match.index + match[0].length - match[2].length, match.index + match[0].length);
      if (number && unit && Math.abs(number.top - unit.top) < 4) found.push([match[0], number.right, unit.left]);
    }
  }
  return found;
}"""

# For every formula without fraction or index: the left edges of its parts in the order in which they are written.
FORMULAS = """() => [...document.querySelectorAll('.md-content .katex-html')]
  .filter((formula) => formula.offsetParent && !formula.querySelector('.vlist, .mfrac, .accent'))
  .map((formula) => {
    const walker = document.createTreeWalker(formula, NodeFilter.SHOW_TEXT);
    const parts = [];
    while (walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      const {left, top, width} = range.getBoundingClientRect();
      if (width > 0.5) parts.push({text: walker.currentNode.data, left, top});
    }
    return parts;
  })
  .filter((parts) => parts.length > 1)"""

# For every number in a drawing: the positions of its first and last digit, measured on the screen.
DRAWN = """() => [...document.querySelectorAll('.ga-picture svg text')]
  .filter((text) => text.getClientRects().length && text.getBoundingClientRect().width > 0)
  .flatMap((text) => [...text.textContent.matchAll(/([0-9][0-9.,]*) ([kMGT]i?B)/g)].map((match) => {
    const first = text.getExtentOfChar(match.index);
    const unit = text.getExtentOfChar(match.index + match[1].length + 1);
    return [match[0], first.x, unit.x];
  }))"""


@pytest.mark.parametrize("path", PAGES)
def test_quantities_and_formulas_run_from_left_to_right(open_page, language, path):
    page = open_page(f"{language}/{path}")
    page.evaluate(
        "document.fonts.ready.then(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }))"
    )
    quantities = page.evaluate(QUANTITIES)
    formulas = page.evaluate(FORMULAS)
    if path == "":
        assert len(quantities) > 5
    assert len(formulas) > 3
    assert [text for text, number_end, unit_start in quantities if not number_end <= unit_start + 1] == []
    assert [parts for parts in formulas if not _rising(parts)] == []


def test_quantities_in_the_drawings_run_from_left_to_right(open_page, language):
    drawn = open_page(f"{language}/").evaluate(DRAWN)
    assert len(drawn) >= 3
    assert [text for text, number, unit in drawn if number >= unit] == []


def test_time_runs_from_left_to_right_in_the_saw_tooth(open_page, language):
    page = open_page(f"{language}/")
    numbers = page.locator(".ga-picture[data-picture=window] svg:visible .ga-small text")
    left = [numbers.nth(index).bounding_box()["x"] for index in range(numbers.count())]
    assert len(left) > 3
    assert left == sorted(left)


def test_measure_itself_notices_a_reversed_quantity(open_page):
    """Without isolation an Arabic sentence really does turn a quantity round, and the measure above sees it."""
    page = open_page("ar/")
    page.evaluate("""() => {
      const reversed = document.createElement('p');
      reversed.innerHTML = '<bdo dir="rtl">12</bdo><span dir="rtl"> 7\\u200f GiB \\u200f</span>';
      document.querySelector('.md-content article').prepend(reversed);
    }""")
    quantities = page.evaluate(QUANTITIES.replace("[ \\u00a0]+", "[ \\u00a0\\u200f]+"))
    assert any(number_end > unit_start + 1 for _, number_end, unit_start in quantities)


def _rising(parts):
    """Each part right of the one before, or on a later line."""
    pairs = pairwise(parts)
    return all(after["left"] > before["left"] - 0.5 or after["top"] > before["top"] + 8 for before, after in pairs)
