"""What axe cannot see: the keyboard's way, the tree that Chromium shows to screen readers, motion, paper, and small screens."""

import re

import pytest
from playwright.sync_api import expect

from gradaccum.calculators import CALCULATORS
from gradaccum.validation import range_end
from paths import DOCS

# Python never starts: what is tried here stands in the page before.
STILL = """Object.defineProperty(navigator, 'connection', {get: () => ({saveData: true, effectiveType: '4g', downlink: 10})});
globalThis.Worker = class extends EventTarget { postMessage() {} terminate() {} };
globalThis.print = () => {};"""
SOURCES = {
    page: page.read_text(encoding="utf-8") for page in [DOCS / "en" / "index.md", *(DOCS / "en" / "calculators").glob("*.md")]
}
PAGES = {
    name: "" if page.stem == "index" else f"calculators/{page.stem}/"
    for page, text in SOURCES.items()
    for name in re.findall(r'\[= calculator\("(\w+)"\) =\]', text)
}
PICTURES = [
    "",
    "calculators/training-memory/",
    "calculators/planner/",
    "learn/pitfalls/clipping/",
    "learn/pitfalls/loss-scaling/",
]
PRESSED = ["", "calculators/planner/", "learn/quiz/", "evidence/accuracy/"]
KINDS = [*PICTURES, "learn/faq/", "learn/quiz/", "learn/glossary/", "learn/frameworks/", "evidence/accuracy/", "reference/cli/"]
# What has the focus, and whether the reader can see it: within the window and clear of the header.
FOCUS = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const box = one.getBoundingClientRect();
  const header = document.querySelector('.md-header').getBoundingClientRect().bottom;
  const seen = box.bottom > header && box.top < innerHeight && box.width > 0;
  const covered = box.top < header - 1 && box.height < innerHeight - header && !one.closest('.md-header, [data-md-component=skip]');
  return {name: one.name || one.dataset.action || one.textContent.trim().slice(0, 40), inside: !!one.closest('.ga-calculator'),
          id: one.id, seen: seen && !covered, outline: getComputedStyle(one).outlineStyle};
}"""
ROLES = {"choice": "combobox", "choices": "combobox", "flag": "checkbox"}


def test_every_calculator_has_its_page():
    assert set(PAGES) == {name for name, calculator in CALCULATORS.items() if not calculator.variants}


def walk(page, key, most):
    """Every stop of the keyboard, until nothing is left or it has gone round."""
    stops = []
    for _ in range(most):
        page.keyboard.press(key)
        stop = page.evaluate(FOCUS)
        if stop is None:
            break
        stops.append(stop)
    return stops


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_reaches_everything_in_order_and_leaves_again(open_page, name):
    page = open_page(f"ar/{PAGES[name]}", line=STILL, viewport={"width": 768, "height": 600}, reduced_motion="reduce")
    page.evaluate("document.querySelectorAll('.ga-calculator details').forEach((one) => { one.open = true; })")
    wanted = page.evaluate(
        """() => [...document.querySelectorAll('.ga-calculator :is(input, select, textarea, button, summary)')]
          .filter((one) => one.offsetParent && one.tabIndex >= 0).map((one) => one.name || one.dataset.action || one.textContent.trim().slice(0, 40))"""
    )
    page.locator(".ga-calculator :is(input, select, textarea)").locator("visible=true").first.focus()
    stops = [page.evaluate(FOCUS), *walk(page, "Tab", len(wanted) + 30)]
    inside = [stop for stop in stops if stop["inside"]]
    reached = [stop["name"] for stop in inside]
    assert [one for one in wanted if one not in reached] == []
    assert [one for one in dict.fromkeys(reached) if one in wanted] == list(dict.fromkeys(wanted))
    assert not stops[-1]["inside"]
    assert [stop for stop in inside if not stop["seen"] or stop["outline"] == "none"] == []


@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
def test_nothing_that_has_the_focus_is_under_the_header(open_page, language, key):
    page = open_page(f"{language}/learn/quiz/", viewport={"width": 360, "height": 500}, reduced_motion="reduce")
    expect(page.locator(".ga-score")).to_have_count(1)
    page.locator(".ga-choice").nth(30).focus()
    stops = walk(page, key, 25)
    assert len(stops) == 25
    assert [stop for stop in stops if not stop["seen"]] == []


def test_the_whole_quiz_can_be_answered_without_a_pointer(open_page, language):
    page = open_page(f"{language}/learn/quiz/", reduced_motion="reduce")
    questions = page.locator(".ga-question")
    page.locator(".ga-choice").first.focus()
    for index in range(questions.count()):
        question = questions.nth(index)
        right = int(question.get_attribute("data-right")) - 1
        while not question.locator(".ga-choice:focus").count():
            page.keyboard.press("Tab")
        for _ in range(right):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    expect(page.locator(".ga-feedback[data-right=true]")).to_have_count(questions.count())


def described(field, words):
    """What a screen reader must say after a field's name."""
    said = words.get(f"field.{field.name}.help", "")
    if field.least is None or field.most is None or field.kind not in ("count", "number"):
        return said
    ends = {"least": range_end(field.least), "greatest": range_end(field.most)}
    return f"{said} {words['ui.range'].format(**ends)}"


@pytest.mark.parametrize("name", PAGES)
def test_the_tree_names_every_part_of_a_calculator(open_page, language, words, name):
    page = open_page(f"{language}/{PAGES[name]}", line=STILL)
    page.evaluate("document.querySelectorAll('.ga-calculator details').forEach((one) => { one.open = true; })")
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    root = session.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]

    def node(selector):
        found = session.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
        (tree,) = session.send("Accessibility.getPartialAXTree", {"nodeId": found, "fetchRelatives": False})["nodes"]
        return {key: tree.get(key, {}).get("value", "") for key in ("role", "name", "description", "value")}

    assert node(".ga-calculator") | {"role": "region", "name": words[language][f"calculator.{name}.title"]} == node(
        ".ga-calculator"
    )
    for field in CALCULATORS[name].fields:
        identity = f"ga-{name}-{field.name}".replace("_", "-")
        searched = page.locator(f"#{identity}-search").count() == 1
        found = node(f"#{identity}-search" if searched else f"#{identity}")
        assert found["role"] == ("combobox" if searched else ROLES.get(field.kind, "textbox")), field.name
        assert words[language][f"field.{field.name}.label"] in found["name"], field.name
        assert described(field, words[language]) in re.sub("[\u2068\u2069]", "", found["description"]), field.name
        if found["role"] == "textbox":
            assert found["value"] == field.example, field.name
    for index, action in enumerate(page.locator(".ga-calculator button").all()):
        assert action.text_content().strip(), index
    if page.locator(".ga-picture svg").count():
        drawn = node(".ga-picture svg")
        assert drawn["role"] == "image"
        assert len(drawn["name"]) > 30


@pytest.mark.parametrize("path", PICTURES)
def test_every_picture_says_what_it_shows_and_has_its_numbers_one_key_away(open_page, language, words, path):
    page = open_page(f"{language}/{path}", line=STILL)
    figures = page.locator(".ga-picture").locator("visible=true")
    assert figures.count() > 0
    for figure in figures.all():
        for drawn in figure.locator("svg").all():
            assert drawn.get_attribute("role") == "img"
            # The same words; only a caption is broken into lines.
            assert drawn.get_attribute("aria-label") == figure.locator("figcaption").text_content().replace("\u00a0", " ")
        folded = figure.locator("details.ga-behind > summary")
        expect(folded).to_have_text(words[language]["ui.picture_table"])
        expect(figure.locator(".ga-behind table")).to_be_hidden()
        folded.focus()
        page.keyboard.press("Enter")
        expect(figure.locator(".ga-behind table")).to_be_visible()
        cells = figure.locator(".ga-behind td[dir=ltr]").all_text_contents()
        assert cells
        assert all(re.search(r"\d", cell) for cell in cells)


def test_the_numbers_behind_a_picture_follow_the_form(live):
    figure = live.page.locator(".ga-picture[data-picture=capacity]")
    figure.locator("summary").click()
    live.type("accumulation_steps", "20")
    live.answered()
    expect(figure.locator(".ga-behind tbody tr").first).to_contain_text("40 GB")
    figure.locator("summary").click()
    live.type("accumulation_steps", "10")
    live.answered()
    figure.locator("summary").click()
    expect(figure.locator(".ga-behind tbody tr").first).to_contain_text("20 GB")
    figure.locator("summary").click()


@pytest.mark.parametrize("path", KINDS)
def test_at_320_pixels_the_page_scrolls_one_way_only(open_page, at_rest, language, path):
    page = open_page(f"{language}/{path}", line=STILL, viewport={"width": 320, "height": 600})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    at_rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("path", PRESSED)
def test_what_can_be_pressed_is_24_pixels_at_least(open_page, path):
    """Links inside a sentence are as high as its lines; the rest has room for a finger."""
    page = open_page(f"ar/{path}", line=STILL)
    small = page.evaluate(
        """() => [...document.querySelectorAll('button, summary, select, input, .md-button, .md-nav__link, .md-tabs__link, .ga-language, .ga-choice')]
          .filter((one) => one.getClientRects().length && one.type !== 'hidden' && getComputedStyle(one).visibility !== 'hidden' && getComputedStyle(one).opacity !== '0')
          .filter((one) => !one.matches('.md-toggle, .md-option, .md-nav__toggle, .md-code__button'))
          .map((one) => [one.className || one.name, one.textContent.trim().slice(0, 30), one.getBoundingClientRect()])
          .filter(([, , box]) => box.width && (box.width < 24 || box.height < 23.9))
          .map(([name, text, box]) => `${name} ${text} ${box.width}x${box.height}`)"""
    )
    assert small == []


def test_nothing_moves_for_readers_who_ask_for_calm(open_page):
    page = open_page("ar/", line=STILL, reduced_motion="reduce")
    page.locator(".ga-calculator").evaluate("(one) => { one.dataset.state = 'loading'; }")
    assert page.evaluate("document.getAnimations().length") == 0
    moving = page.evaluate(
        """() => [...document.querySelectorAll('*')].filter((one) => parseFloat(getComputedStyle(one).transitionDuration) > 0).length"""
    )
    assert moving == 0
    expect(page.locator("[data-action=play]")).to_be_hidden()


def test_what_changes_is_said_once_and_politely(open_page, calculator_of):
    calculator = calculator_of(open_page("ar/", line=STILL))
    expect(calculator.status).to_have_attribute("role", "status")
    loud = calculator.section.locator("output:not([aria-live=off])")
    expect(loud).to_have_count(0)


def test_forced_colours_keep_focus_and_fields_visible(open_page, calculator_of):
    calculator = calculator_of(open_page("ar/", line=STILL, forced_colors="active"))
    calculator.control("micro_batch").focus()
    style = calculator.control("micro_batch").evaluate(
        "(one) => [getComputedStyle(one).outlineStyle, getComputedStyle(one).borderTopStyle, getComputedStyle(one).borderTopWidth]"
    )
    assert style[:2] == ["solid", "solid"]
    assert style[2] != "0px"


@pytest.mark.parametrize("path", ["", "calculators/training-memory/"])
def test_a_printed_result_fits_one_page(open_page, language, path):
    page = open_page(f"{language}/{path}", line=STILL)
    page.locator("[data-action=print]").click()
    paper = page.pdf(format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), "12mm"))
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    page.locator("[data-action=print]").click()
    page.emulate_media(media="print")
    for shown in (".ga-field input:not([type=hidden]), .ga-field textarea", ".ga-output", ".ga-picture svg"):
        expect(page.locator(shown).locator("visible=true").first).to_be_visible()
    expect(page.locator(".ga-source")).to_be_visible()
    expect(page.locator(".ga-source")).to_have_text(re.compile(rf"^http.*/{language}/{path}"))
    for hidden in (".md-header", ".md-footer", ".ga-help", ".md-content h2"):
        assert page.locator(hidden).locator("visible=true").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(page.locator(".md-header")).to_be_visible()
