"""What a reader types into the form, and what comes back."""

import json
import re

import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize(
    "field,text,output,shown",
    [
        ("micro_batch", "6", "effective_batch", "48"),
        ("accumulation_steps", "1", "whole_batch_activation_memory", "2 GB"),
        ("replicas", "4", "effective_batch", "128"),
        ("activation_per_sample", "0.25 GB", "activation_memory", "1 GB"),
        ("activation_per_sample", "1.5 GiB", "activation_memory", "6 GiB"),
        ("micro_batch", "٣٢", "effective_batch", "256"),
        ("accumulation_steps", "۱۶", "effective_batch", "64"),
        ("replicas", "١٬٠٢٤", "effective_batch", "32,768"),
        ("activation_per_sample", "٠٫٥ غيغابايت", "activation_memory", "2 GB"),
    ],
)
def test_typing_changes_the_result(live, field, text, output, shown):
    live.type(field, text)
    live.shows(**{output: shown})
    expect(live.control(field)).to_have_value(text)


def test_worked_example_has_the_readers_numbers(live):
    live.type("micro_batch", "7")
    first = live.section.locator(".ga-steps li").first
    expect(first.locator("annotation")).to_have_text(re.compile(r"7 .*8 .*56"))
    expect(first.locator("math")).to_have_count(1)


@pytest.mark.parametrize(
    "field,text",
    [("micro_batch", "abc"), ("micro_batch", "-4"), ("accumulation_steps", "٢٫٥"), ("activation_per_sample", "500")],
)
def test_wrong_value_gets_its_message_at_its_field_and_stays_as_typed(live, language, words, field, text):
    live.control(field).click()
    live.type(field, text)
    live.answered("refused")
    message = live.error(field)
    expect(message).to_be_visible()
    expect(message).to_contain_text(text.strip("-"))
    control = live.control(field)
    expect(control).to_have_value(text)
    expect(control).to_be_focused()
    expect(control).to_have_attribute("aria-invalid", "true")
    assert message.get_attribute("id") in control.get_attribute("aria-describedby").split()
    arabic = re.search(r"[\u0621-\u064a]{3}", message.inner_text())
    assert bool(arabic) == (language == "ar")
    expect(live.status).to_have_text(words[language]["ui.refused"])
    live.shows(effective_batch="32", activation_memory="2 GB")


def test_all_faults_are_shown_together_and_go_away_when_mended(live):
    live.type("micro_batch", "0")
    live.type("accumulation_steps", "x")
    live.type("activation_per_sample", "5")
    live.answered("refused")
    for field in ("micro_batch", "accumulation_steps", "activation_per_sample"):
        expect(live.error(field)).to_be_visible()
    live.type("micro_batch", "2")
    live.type("accumulation_steps", "3")
    live.type("activation_per_sample", "1 GB")
    live.answered()
    expect(live.section.locator(".ga-error:visible")).to_have_count(0)
    expect(live.section.locator("[aria-invalid]")).to_have_count(0)
    live.shows(effective_batch="6", activation_memory="2 GB")


def test_message_at_a_folded_field_unfolds_it(live):
    # In one turn of the page: a fault that is told before the fold is closed would have nothing to unfold.
    live.section.evaluate(
        """(section) => {
          for (const [name, text] of [["world_size", "7"], ["tensor_parallel", "2"]]) {
            const control = section.querySelector(`[name=${name}]`);
            control.value = text;
            control.dispatchEvent(new Event("input", { bubbles: true }));
          }
          section.querySelector("details.ga-more").open = false;
        }"""
    )
    live.answered("refused")
    expect(live.error("world_size")).to_be_visible()


def test_outputs_come_and_go_with_what_is_asked(live):
    live.type("activation_per_sample", "")
    expect(live.output("activation_memory")).to_have_count(0)
    expect(live.page.locator(".ga-picture[data-live=true]:visible")).to_have_count(0)
    live.section.locator("details.ga-more > summary").click()
    live.type("sequence_length", "4096")
    live.shows(tokens_per_update="131,072")
    expect(live.section.locator("[data-output=tokens_per_update] .ga-label math")).to_have_count(1)
    live.type("activation_per_sample", "0.5 GB")
    live.shows(activation_memory="2 GB")
    expect(live.page.locator(".ga-picture[data-live=true]:visible")).to_have_count(2)


def test_pictures_follow_the_result(live):
    capacity = live.page.locator(".ga-picture[data-picture=capacity]")
    expect(capacity.locator("svg:visible .ga-excess path, svg:visible .ga-excess rect")).to_have_count(1)
    live.type("accumulation_steps", "2")
    live.shows(whole_batch_activation_memory="4 GB")
    expect(capacity.locator("svg:visible")).to_have_attribute("aria-label", re.compile("4 GB"))
    expect(capacity.locator("svg:visible .ga-excess path, svg:visible .ga-excess rect")).to_have_count(0)
    expect(capacity.locator("figcaption")).to_contain_text("4 GB")


def test_only_the_latest_answer_is_shown(live):
    live.page.evaluate(
        """async () => {
          const control = document.querySelector('[name=micro_batch]');
          for (const text of ['5', 'x', '9', '11']) {
            control.value = text;
            control.form.requestSubmit();
            await new Promise(requestAnimationFrame);
          }
        }"""
    )
    live.shows(effective_batch="88")
    live.answered()
    expect(live.error("micro_batch")).to_be_hidden()


KEYS = """async ([texts, pause]) => {
  const asked = [];
  let open = 0, most = 0;
  const watched = new WeakSet();
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message) {
    if (message.kind === 'run') {
      if (!watched.has(this)) this.addEventListener('message', () => { open -= 1; });
      watched.add(this);
      open += 1;
      most = Math.max(most, open);
      asked.push(JSON.parse(message.text).inputs.micro_batch);
    }
    return post.call(this, message);
  };
  const faults = [];
  const section = document.querySelector('.ga-calculator');
  const look = () => faults.push(...[...section.querySelectorAll('.ga-error')].map((one) => one.textContent).filter(Boolean));
  const watcher = new MutationObserver(look);
  watcher.observe(section, { subtree: true, childList: true });
  const control = section.querySelector('[name=micro_batch]');
  const status = section.querySelector('.ga-status');
  status.textContent = '';
  const before = location.hash;
  for (const text of texts) {
    control.value = text;
    control.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => setTimeout(done, pause));
  }
  const early = location.hash === before;
  // What comes of the last key is said when the reader rests and its answer stands in the page; a little longer for what should not come.
  while (!status.textContent) await new Promise((done) => setTimeout(done, 50));
  await new Promise((done) => setTimeout(done, 300));
  Worker.prototype.postMessage = post;
  watcher.disconnect();
  return { asked, most, faults, early };
}"""


def test_each_key_is_asked_at_once_and_one_at_a_time(live):
    texts = ["5", "57", "571", "57", "5", "59", "598"]
    found = live.page.evaluate(KEYS, [texts, 0])
    live.shows(effective_batch="4,784")
    assert found["most"] == 1
    assert found["asked"][-1] == "598"
    assert set(found["asked"]) <= set(texts)


def test_half_a_number_is_no_fault_while_the_reader_types_on(live):
    found = live.page.evaluate(KEYS, [["5", "5x", "57"], 50])
    live.shows(effective_batch="456")
    assert found["faults"] == []
    assert live.section.get_attribute("data-state") == "ready"


def test_fault_is_told_when_the_reader_rests(live):
    found = live.page.evaluate(KEYS, [["5", "5x"], 50])
    live.answered("refused")
    expect(live.error("micro_batch")).to_be_visible()
    assert found["faults"] != []


def test_address_is_written_when_the_reader_rests(live):
    live.type("micro_batch", "3")
    live.shows(effective_batch="24")
    found = live.page.evaluate(KEYS, [["5", "57"], 50])
    assert found["early"]
    expect(live.page).to_have_url(re.compile("micro_batch=57&"))


@pytest.mark.parametrize("form", ["text", "json", "command", "link"])
def test_copy_buttons(live, language, words, form, address):
    live.type("micro_batch", "5")
    live.shows(effective_batch="40")
    live.answered()
    expect(live.status).to_have_text(words[language]["ui.updated"])
    copied = live.copied(live.section.locator(f"[data-action=copy][data-format={form}]"))
    expect(live.status).to_have_text(words[language]["ui.copied"])
    if form == "json":
        answer = json.loads(copied)
        assert answer["ok"]
        assert answer["outputs"]["effective_batch"] == 40
        assert "view" not in answer
    elif form == "text":
        assert words[language]["output.effective_batch.label"] in copied
        assert re.search(r"\b40\b", copied)
    elif form == "command":
        assert copied.startswith("gradaccum accumulation --micro-batch 5 ")
    else:
        assert copied.startswith(f"{address}/{language}/#micro_batch=5&")
