"""What a page may load and run, and that nothing typed, pasted or shared becomes a part of it."""

import json
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import expect

from gradaccum.calculators import CALCULATORS

# The guard of every other test looks out for broken policies too; these are kinds that few others open.
KINDS = (
    "learn/frameworks/",
    "learn/glossary/",
    "calculators/planner/",
    "evidence/benchmark/",
    "reference/contract/",
    "404.html",
)
LISTEN = """addEventListener('securitypolicyviolation',
    (event) => (window.violations ??= []).push(`${event.violatedDirective}: ${event.blockedURI}`))"""
VIOLATIONS = "window.violations ?? []"
# Each would leave an element with this attribute behind, or run, wherever a text is taken for markup, TeX or a template.
HOSTILE = (
    '<img data-intruder src="data:," onerror="window.intruder = 1">',
    "'\"><svg data-intruder onload=window.intruder=1><a href=javascript:window.intruder=1>",
    "</script></textarea></title><script data-intruder>window.intruder = 1</script>",
    "\\href{javascript:window.intruder=1}{x}\\htmlData{intruder=1}{y}$\\(${window.intruder=1}{{7*7}}[= 7*7 =]",
)
INTRUDERS = """() => [...document.querySelectorAll('[data-intruder], a[href^="javascript:"]')].map((one) => one.outerHTML)
    .concat(window.intruder ? ['it ran'] : [])"""


def test_no_kind_of_page_breaks_its_policy(open_page, address, language):
    page = open_page(f"{language}/")
    page.context.add_init_script(LISTEN)
    for kind in KINDS:
        page.goto(f"{address}/{language}/{kind}")
        page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
        assert page.evaluate(VIOLATIONS) == [], kind


def test_colours_search_and_links_keep_to_the_policy(open_page, language):
    """What the theme does by itself, and the scripts of a page that it fetched, which run under the policy of the first."""
    page = open_page(f"{language}/learn/concept/")
    page.evaluate(LISTEN)
    page.locator(".md-header label[for^=__palette]:visible").first.click()
    page.locator("input.md-search__input").press_sequentially("ZeRO")
    expect(page.locator(".md-search-result__item").first).to_be_attached()
    page.keyboard.press("Escape")
    page.locator("a.md-logo").first.evaluate("link => link.click()")
    expect(page.locator(".ga-calculator")).to_be_attached()
    assert page.evaluate(VIOLATIONS) == []


@pytest.mark.parametrize("path", ["", "404.html"])
def test_root_pages_keep_to_their_policy(open_page, address, language, path):
    page = open_page(path, locale=language)
    page.context.add_init_script(LISTEN)
    page.goto(f"{address}/{path}")
    page.wait_for_load_state("networkidle")
    assert page.evaluate(VIOLATIONS) == []
    assert page.url == f"{address}/{path or f'{language}/'}"


ATTEMPTS = {
    "inline script": "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.intruder = 1'}))",
    "handler in markup": "document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.intruder = 1\">')",
    "script address": "Object.assign(document.createElement('a'), {href: 'javascript:window.intruder = 1'}).click()",
    "foreign script": "document.head.append(Object.assign(document.createElement('script'), {src: 'https://example.org/x.js'}))",
    "foreign picture": "new Image().src = 'https://example.org/x.png'",
    "foreign request": "fetch('https://example.org/').catch(() => {})",
    "message to elsewhere": "navigator.sendBeacon('https://example.org/', 'x')",
    "foreign frame": "document.body.append(Object.assign(document.createElement('iframe'), {src: 'https://example.org/'}))",
    "worker from text": "try { new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))) } catch { }",
    "code from text": "try { new Function('window.intruder = 1')() } catch { }",
    "style in markup": "document.body.insertAdjacentHTML('beforeend', '<p style=\"color:red\">x</p>')",
    "base elsewhere": "document.head.prepend(Object.assign(document.createElement('base'), {href: 'https://example.org/'}))",
}


@pytest.fixture(scope="module")
def attacked(browser, address):
    context = browser.new_context()
    page = context.new_page()
    asked = []
    # Called for what would leave the browser, and not for what the policy stops before.
    context.route("https://example.org/**", lambda route: (asked.append(route.request.url), route.abort()))
    page.goto(f"{address}/en/learn/concept/")
    page.wait_for_load_state("networkidle")
    yield page, asked
    context.close()


# Run by a timer: what the debugger runs itself may turn text into code.
RUN = """() => new Promise((done, failed) => {
    addEventListener('securitypolicyviolation', done, {once: true});
    setTimeout(failed, 10_000, new Error('nothing was refused'));
    setTimeout(() => { %s });
})"""


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_what_got_into_a_page_can_do_nothing(attacked, attempt):
    page, asked = attacked
    page.evaluate(RUN % attempt)
    assert page.evaluate("'intruder' in window") is False
    assert asked == []


def hostile_inputs(name, text):
    """That text in every field of the calculator, as it stands and inside JSON."""
    written = json.dumps({"model_type": text, text: {text: [text]}, "__proto__": {"intruder": text}, "hidden_size": text})
    return {field.name: written if field.kind == "object" else text for field in CALCULATORS[name].fields}


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("fixture, name", [("live", "accumulation"), ("memory", "training_memory")])
def test_hostile_address_stays_text(request, fixture, name):
    calculator = request.getfixturevalue(fixture)
    page = calculator.page
    for text in HOSTILE:
        calculator.forget()
        page.evaluate("address => { location.hash = address }", urlencode(hostile_inputs(name, text), quote_via=quote))
        calculator.answered("refused")
        assert page.evaluate(INTRUDERS) == []
    # The last one stands in the fields and in what is said of them, letter for letter.
    expect(calculator.section.locator(".ga-message").filter(has_text="window.intruder").first).to_be_visible()
    page.evaluate("history.replaceState(history.state, '', location.pathname)")


def test_hostile_names_in_a_config_stay_text(memory):
    """A config that is right but for names nobody needs: they may be shown, and are shown as text."""
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 100,
        "max_position_embeddings": 4096,
        "_name_or_path": HOSTILE[0],
        "architectures": list(HOSTILE),
        HOSTILE[1]: HOSTILE[2],
    }
    page = memory.page
    page.evaluate("for (const folded of document.querySelectorAll('.ga-form details')) folded.open = true")
    memory.type("config", json.dumps(config))
    memory.answered()
    assert page.evaluate(INTRUDERS) == []
    for text in HOSTILE:
        memory.type("config", json.dumps({**config, "model_type": text}))
        memory.answered("refused")
        assert page.evaluate(INTRUDERS) == []


def test_hostile_search_stays_text(open_page, language):
    for text in HOSTILE[:2]:
        page = open_page(f"{language}/?q={quote(text)}")
        expect(page.locator("input.md-search__input")).to_have_value(text)
        expect(page.locator(".md-search-result__meta")).not_to_have_text("")
        assert page.evaluate(INTRUDERS) == []
