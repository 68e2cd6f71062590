"""Pages fit phones, tablets and desks."""

import pytest
from playwright.sync_api import expect

PAGES = ["", "learn/formula/", "calculators/updates/", "calculators/loss-weights/", "reference/contract/", "evidence/accuracy/"]
WIDTHS = [360, 768, 1280]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_wider_than_the_screen(open_page, at_rest, language, path):
    page = open_page(f"{language}/{path}")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        at_rest(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("path", ["", "404.html"])
def test_pages_of_both_languages_fit_a_phone(open_page, path):
    page = open_page(path, viewport={"width": 360, "height": 740}, java_script_enabled=False)
    sides = page.locator("main, main > *").evaluate_all(
        "(parts) => parts.map((part) => part.getBoundingClientRect()).flatMap((box) => [box.left, box.right])"
    )
    assert len(sides) >= 6
    assert min(sides) >= 0
    assert max(sides) <= 360


SQUEEZED = """() => [...document.querySelectorAll('.md-typeset table:not([class]) :is(td, tbody th)')].filter((cell) =>
  cell.textContent.length >= 50 && cell.clientWidth < 120).map((cell) => [cell.clientWidth, cell.textContent])"""


@pytest.mark.parametrize("path", ["reference/contract/", "calculators/updates/", "evidence/reliability/"])
def test_no_column_outside_a_phone_is_squeezed_to_a_word_a_line(open_page, language, path):
    page = open_page(f"{language}/{path}", viewport={"width": 360, "height": 740}, java_script_enabled=False)
    assert page.evaluate(SQUEEZED) == []


def test_rows_of_plans_are_not_taller_than_what_is_seen_of_them(open_page, at_rest, language):
    """The reason of a plan stands outside a phone's screen: four lines of it at most."""
    page = open_page(f"{language}/calculators/planner/", viewport={"width": 360, "height": 740})
    at_rest(page)
    heights = page.locator("[data-output=plans] tbody tr").evaluate_all("(rows) => rows.map((row) => row.clientHeight)")
    assert len(heights) >= 3
    assert max(heights) < 80


@pytest.mark.parametrize(("path", "box"), [("calculators/lora/", ".ga-table"), ("learn/pitfalls/", ".md-typeset__scrollwrap")])
def test_a_table_with_more_beside_it_shows_a_shadow_there(open_page, at_rest, language, path, box):
    """The shadow is the ground of the box, so nothing in the box may cover it."""
    page = open_page(f"{language}/{path}", viewport={"width": 360, "height": 740})
    at_rest(page)
    wide = page.locator(box).locator("visible=true").first
    assert wide.evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert "radial-gradient" in wide.evaluate("(box) => getComputedStyle(box).backgroundImage")
    grounds = wide.locator("table, tbody, tbody tr, tbody td").evaluate_all(
        "(parts) => [...new Set(parts.map((one) => getComputedStyle(one).backgroundColor))]"
    )
    assert grounds == ["rgba(0, 0, 0, 0)"]


def test_names_and_figures_of_a_list_fit_a_phone_together(open_page, at_rest, language):
    page = open_page(f"{language}/reference/dry-run/", viewport={"width": 360, "height": 740})
    at_rest(page)
    box = page.locator(".ga-table:not(:has(thead))")
    assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth")


# The theme's script completes the name of the class, so its rules would be missed by a search for the whole name.
def test_the_arrow_of_more_tabs_stands_at_their_end(open_page, at_rest):
    page = open_page("en/learn/pitfalls/clipping/", viewport={"width": 360, "height": 740})
    arrow, tabs = page.locator(".tabbed-control--next").first, page.locator(".tabbed-set").first
    expect(arrow).not_to_have_attribute("hidden", "")
    at_rest(page)
    ends = [one.evaluate("(one) => one.getBoundingClientRect().right") for one in (arrow, tabs)]
    assert abs(ends[0] - ends[1]) < 20
    assert arrow.evaluate("(one) => one.getBoundingClientRect().left") > 250


def test_a_copy_button_covers_no_code_below_a_name(open_page, at_rest, language):
    page = open_page(f"{language}/learn/pitfalls/clipping/", viewport={"width": 360, "height": 740})
    button = page.locator(".tabbed-block:first-child .filename + pre > .md-code__nav")
    expect(button).to_have_count(1)
    at_rest(page)
    assert button.evaluate(
        "(button) => button.getBoundingClientRect().bottom <= button.parentElement.getBoundingClientRect().top"
    )


def test_the_end_of_a_long_command_stands_beside_its_copy_button(open_page, language):
    page = open_page(f"{language}/calculators/batch-split/", viewport={"width": 360, "height": 740})
    block = page.locator(".highlight > pre:first-child").first
    expect(block.locator(".md-code__nav")).to_have_count(1)
    text, button, edge = block.evaluate(
        """(block) => {
          const code = block.querySelector('code'), words = document.createRange();
          const wide = code.scrollWidth > code.clientWidth + 100;
          code.scrollLeft = code.scrollWidth;
          words.selectNodeContents(code);
          const button = block.querySelector('.md-code__nav').getBoundingClientRect();
          return [wide && words.getBoundingClientRect().right, button.left, code.getBoundingClientRect().right - button.right];
        }"""
    )
    assert 0 < text <= button
    assert abs(edge) < 1


# Names with two neighbouring letters in two lines.
TORN = """() => [...document.querySelectorAll('.md-typeset :is(code, .ga-whole)')].filter((name) => {
  if (name.closest('pre, .ga-package')) return false;
  const letters = [], place = document.createRange();
  for (const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT); walker.nextNode();)
    for (let at = 0; at < walker.currentNode.length; at++) {
      place.setStart(walker.currentNode, at);
      place.setEnd(walker.currentNode, at + 1);
      letters.push([/[A-Za-z0-9]/.test(place.toString()), place.getBoundingClientRect().top]);
    }
  return letters.some(([letter, top], at) => at && letter && letters[at - 1][0] && top > letters[at - 1][1] + 5);
}).map((name) => name.textContent)"""


@pytest.mark.parametrize("path", ["learn/memory/", "learn/pitfalls/last-window/", "calculators/training-memory/"])
def test_no_name_is_torn_within_a_word(open_page, language, path):
    page = open_page(f"{language}/{path}", viewport={"width": 360, "height": 740})
    page.evaluate("document.fonts.ready")
    assert page.evaluate(TORN) == []
    # And the test would see one.
    page.locator(".md-content__inner > p > code").first.evaluate(
        "(name) => { name.className = ''; name.textContent = 'a'.repeat(99); }"
    )
    assert page.evaluate(TORN) == ["a" * 99]


def test_digits_are_as_high_behind_arabic_as_behind_latin_letters(open_page):
    page = open_page("ar/")
    assert page.evaluate("() => getComputedStyle(document.querySelector('article p')).fontFeatureSettings") == '"locl" 0'


def test_lines_of_a_worked_formula_begin_at_the_left_and_stand_at_the_side_of_the_page(open_page, language):
    page = open_page(f"{language}/calculators/lora/", viewport={"width": 360, "height": 740})
    page.evaluate("document.fonts.ready")
    long, short = page.locator(".ga-steps .katex-display > .katex").evaluate_all(
        """(formulas) => [formulas[0], formulas.at(-1)].map((formula) => {
          const line = formula.closest('li').querySelector('p').getBoundingClientRect();
          const boxes = [...formula.querySelectorAll('.katex-html > .katex-base')].map((part) => part.getBoundingClientRect());
          // Within a line the parts stand one behind the other.
          const starts = boxes.filter((box, at) => !at || box.left < boxes[at - 1].right - 1).map((box) => box.left);
          return {starts, before: boxes[0].left - line.left, after: line.right - boxes.at(-1).right};
        })"""
    )
    assert len(long["starts"]) >= 3
    assert max(long["starts"]) - min(long["starts"]) < 3
    assert short["after" if language == "ar" else "before"] < 3


CUT = """() => [...document.querySelectorAll('.ga-field select:not([hidden], [data-member])')].flatMap((list) => {
  const style = getComputedStyle(list), pen = document.createElement('canvas').getContext('2d');
  pen.font = style.font;
  const room = list.clientWidth - parseFloat(style.paddingInlineStart) - parseFloat(style.paddingInlineEnd) - 16;
  return [...list.options].map(({ text }) => text).filter((text) => list.clientWidth && pen.measureText(text).width > room);
})"""


@pytest.mark.parametrize("path", ["planner", "training-memory", "recipe", "updates", "learning-rate", "lora"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_closed_list_cuts_its_choice(open_page, at_rest, language, path, width):
    page = open_page(f"{language}/calculators/{path}/", viewport={"width": width, "height": 900})
    at_rest(page)
    page.evaluate("() => { for (const fold of document.querySelectorAll('.ga-more')) fold.open = true; }")
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_text_of_the_drawings_can_be_read(open_page, at_rest, language, width):
    page = open_page(f"{language}/", viewport={"width": width, "height": 900})
    at_rest(page)
    texts = page.evaluate(
        """() => [...document.querySelectorAll('.ga-picture svg')].filter((svg) => svg.getClientRects().length).flatMap((svg) => {
          const frame = svg.getBoundingClientRect();
          const scale = frame.width / svg.viewBox.baseVal.width;
          return [...svg.querySelectorAll('text')].map((text) => {
            const box = text.getBoundingClientRect();
            return {text: text.textContent, size: parseFloat(getComputedStyle(text).fontSize) * scale,
                    outside: box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1};
          });
        })"""
    )
    assert len(texts) > 15
    assert [one["text"] for one in texts if one["size"] < 11] == []
    assert [one["text"] for one in texts if one["outside"]] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_two_texts_of_a_drawing_overlap(open_page, at_rest, language, width):
    page = open_page(f"{language}/", viewport={"width": width, "height": 900})
    at_rest(page)
    overlapping = page.evaluate(
        """() => [...document.querySelectorAll('.ga-picture svg')].filter((svg) => svg.getClientRects().length).flatMap((svg) => {
          const texts = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
          return texts.flatMap(([name, a], index) => texts.slice(index + 1)
            .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 6 && b.top < a.bottom - 6)
            .map(([other]) => [name, other]));
        })"""
    )
    assert overlapping == []


HEADS = """async () => {
  await document.fonts.ready;
  return [...document.querySelectorAll('.ga-calculator thead')].map((head) => head.getBoundingClientRect().height);
}"""


@pytest.mark.parametrize("path", ["calculators/planner/", "calculators/training-memory/"])
def test_heads_that_become_buttons_keep_their_height(open_page, language, path):
    still = open_page(f"{language}/{path}", java_script_enabled=False)
    live = open_page(f"{language}/{path}")
    expect(live.locator(".ga-sort").first).to_be_visible()
    assert len(still.evaluate(HEADS)) >= 2
    assert live.evaluate(HEADS) == pytest.approx(still.evaluate(HEADS), abs=0.5)
