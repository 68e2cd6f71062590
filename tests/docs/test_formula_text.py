"""Formulas as plain text: rendered by the real KaTeX, and those of the built site."""

import json
import re

import pytest

from formula_text import formula_text
from postbuild import render_formulas

CASES = {
    r"E = b \cdot a \cdot g": "E = b · a · g",
    r"a = \frac{E}{b \cdot g}": "a = E/(b · g)",
    r"\frac{1}{k} \sum_{i=1}^{k} \frac{S_i}{n_i}": "(1/k) ∑_(i = 1)^k (S_i/n_i)",
    r"\frac{1}{3} (2 + P)": "(1/3) (2 + P)",
    r"\frac{W a}{f S}": "(Wa)/(fS)",
    r"\frac{1}{4{,}096}": "1/4,096",
    r"-\ln \frac{x}{y}": "-ln(x/y)",
    r"\ln \tfrac{1}{2}": "ln(1/2)",
    r"\min\left(1, \frac{c}{|\bar{g}|}\right)": "min(1, c/|g\u0304|)",
    r"\beta_2' = \beta_2^{E'/E}": "β_2′ = β_2^(E′/E)",
    r"x^{a g} - 2^{10}": "x^(ag) - 2^10",
    r"\eta / \eta_{\max} = 0": "η/η_max = 0",
    r"M = \max_{1 \le i \le a} m_i": "M = max_(1 ≤ i ≤ a) m_i",
    r"\sqrt{k} \cdot \sqrt{\frac{a}{b}}": "√k · √(a/b)",
    r"U = n \left\lceil \frac{m}{a} \right\rceil": "U = n⌈m/a⌉",
    r"10 \cdot 10^{-6}": "10 · 10^(-6)",
    r"(-1) - 1": "(-1) - 1",
    r"r = m \bmod a": "r = m mod a",
    r"2\,\text{GiB} \qquad r = 1": "2 GiB; r = 1",
    r"a = 1, \quad b = 2 \quad \Rightarrow \quad c": "a = 1, b = 2 ⇒ c",
    r"\underbrace{x + y}_{\text{both}}": "x + y (both)",
    r"\frac{\mathrm{world}}{\mathrm{tp}}": "world/tp",
    r"\begin{aligned} E &= b \\ M &= A \end{aligned}": "E = b; M = A",
}


@pytest.fixture(scope="module")
def rendered():
    pages = [f'<div class="arithmatex">\\[{tex.replace("&", "&amp;")}\\]</div>' for tex in CASES]
    return {tex: formula_text(markup) for (tex, _), markup in render_formulas(pages).items()}


@pytest.mark.parametrize("tex, text", CASES.items())
def test_text_says_what_the_formula_says(rendered, tex, text):
    assert rendered[tex] == text


def test_element_without_a_rule_is_an_error():
    with pytest.raises(ValueError, match="no rule is for: mphantom"):
        formula_text("<math><mphantom/></math>")
    with pytest.raises(ValueError, match="no MathML"):
        formula_text("<span>b</span>")


@pytest.mark.parametrize("language", ["ar", "en"])
def test_excerpts_of_the_search_show_no_tex(site, language):
    """And every bracket in a formula closes; a half-open interval has none on this site."""
    index = json.loads((site / language / "search" / "search_index.json").read_text(encoding="utf-8"))
    texts = [entry["text"] for entry in index["docs"]]
    formulas = [formula for text in texts for formula in re.findall(r'<bdi dir="ltr">(.*?)</bdi>', text)]
    assert len(set(formulas)) > 300
    prose = [re.sub(r"<code>.*?</code>", "", text, flags=re.DOTALL) for text in texts]
    assert [text for text in prose if re.search(r"\\[(\[]|\\(?:frac|cdot)", text)] == []
    for formula in formulas:
        assert "\\" not in formula
        assert all(formula.count(one) == formula.count(other) for one, other in ("()", "⌈⌉", "⌊⌋")), formula
