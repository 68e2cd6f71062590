"""Pages fit phones, tablets and desks."""

import pytest

PAGES = ["", "learn/formula/", "calculators/updates/", "calculators/loss-weights/", "reference/contract/", "evidence/accuracy/"]
WIDTHS = [360, 768, 1280]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_wider_than_the_screen(open_page, language, path):
    page = open_page(f"{language}/{path}")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_text_of_the_drawings_can_be_read(open_page, language, width):
    page = open_page(f"{language}/", viewport={"width": width, "height": 900})
    page.evaluate("document.fonts.ready")
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
def test_no_two_texts_of_a_drawing_overlap(open_page, language, width):
    page = open_page(f"{language}/", viewport={"width": width, "height": 900})
    page.evaluate("document.fonts.ready")
    overlapping = page.evaluate(
        """() => [...document.querySelectorAll('.ga-picture svg')].filter((svg) => svg.getClientRects().length).flatMap((svg) => {
          const texts = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
          return texts.flatMap(([name, a], index) => texts.slice(index + 1)
            .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 6 && b.top < a.bottom - 6)
            .map(([other]) => [name, other]));
        })"""
    )
    assert overlapping == []
