"""The pages of training memory and LoRA in a reader's hands: search, files, dimensions, comparison, tables, pictures."""

import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from gradaccum.catalogue import models

CONFIG = {
    "model_type": "qwen3",
    "hidden_size": 1024,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 3072,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
}
QWEN3_06B = "596,049,920"
MEMORY, LORA = "calculators/training-memory/", "calculators/lora/"


def drop(page, selector, name, text):
    """Let a file fall where the selector says."""
    page.evaluate(
        """([selector, name, text]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([text], name, {type: 'application/json'}));
          for (const type of ['dragenter', 'dragover', 'drop']) {
            const event = new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer});
            document.querySelector(selector).dispatchEvent(event);
          }
        }""",
        [selector, name, text],
    )


def search(calculator, field="model"):
    return calculator.section.locator(f"[data-field={field}] [role=combobox]")


def options(calculator, field="model"):
    return calculator.section.locator(f"[data-field={field}] [role=option]")


@pytest.mark.parametrize(
    "query, first", [("8b llama 3.1", "llama-3.1-8b"), ("QWEN3 0.6", "qwen3-0.6b"), ("٧٠ llama-٢", "llama-2-70b")]
)
def test_a_model_is_found_by_its_words_in_any_order(memory, query, first):
    search(memory).fill(query)
    expect(options(memory).first.locator("bdi")).to_have_text(first)
    memory.ask_anew()
    options(memory).first.click()
    expect(search(memory)).to_have_value(first)
    expect(memory.control("model")).to_have_value(first)
    memory.answered()


def test_keys_alone_choose_a_model(memory):
    search(memory).focus()
    page = memory.page
    page.keyboard.press("ArrowDown")
    expect(search(memory)).to_have_attribute("aria-expanded", "true")
    chosen = options(memory).locator("xpath=self::*[@aria-selected='true']")
    expect(chosen.locator("bdi")).to_have_text("llama-3-8b")
    page.keyboard.press("Escape")
    expect(search(memory)).to_have_attribute("aria-expanded", "false")
    page.keyboard.type("gpt2")
    page.keyboard.press("ArrowDown")
    active = search(memory).get_attribute("aria-activedescendant")
    expect(memory.page.locator(f"#{active} bdi")).to_have_text("gpt2-medium")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(search(memory)).to_have_value("gpt2")
    memory.shows(parameters="124,439,808")
    page.keyboard.press("Tab")
    expect(search(memory)).not_to_be_focused()
    expect(options(memory).locator("visible=true")).to_have_count(0)


def test_half_a_name_changes_nothing(memory):
    search(memory).fill("no such model")
    expect(options(memory)).to_have_count(0)
    expect(memory.section.locator("[data-field=model] [role=status]")).to_contain_text("0")
    search(memory).blur()
    expect(search(memory)).to_have_value("llama-3-8b")
    search(memory).fill("GPT2-XL")
    search(memory).blur()
    expect(memory.control("model")).to_have_value("gpt2-xl")


def test_a_choice_that_may_be_empty_can_be_emptied(memory):
    search(memory, "gpu").fill("")
    search(memory, "gpu").blur()
    expect(memory.output("headroom")).to_have_count(0)


def test_names_carry_the_number_of_parameters(memory, language, words):
    search(memory).fill("llama-3-8b")
    detail = words[language]["detail.billion"].format(count="8.03")
    expect(options(memory).first).to_contain_text(detail)


def test_a_dropped_file_is_read_and_its_members_are_shown(memory):
    drop(memory.page, "[data-field=config]", "config.json", json.dumps(CONFIG))
    memory.shows(parameters=QWEN3_06B)
    memory.section.locator(".ga-members > summary").click()
    expect(memory.section.locator("[data-member=num_hidden_layers]")).to_have_value("28")
    expect(memory.section.locator("[data-member=tie_word_embeddings]")).to_have_value("true")
    expect(memory.section.locator("[data-note=config_over_model]")).to_have_count(1)


def test_a_chosen_file_is_read(memory, language, words):
    button = memory.section.locator("[data-action=file]")
    with memory.page.expect_file_chooser() as chooser:
        button.focus()
        memory.page.keyboard.press("Enter")
    file = {"name": "config.json", "mimeType": "application/json", "buffer": json.dumps(CONFIG).encode()}
    chooser.value.set_files(file)
    memory.shows(parameters=QWEN3_06B)
    expect(memory.section.locator(".ga-drop")).to_contain_text(words[language]["ui.drop_here"])


@pytest.mark.parametrize(
    "text, rule",
    [('{"model_type": "llama", ', "error.malformed.object_syntax"), ("[1, 2]", None), ('{"model_type": "mamba"}', None)],
)
def test_a_broken_file_gets_its_message_at_its_field(memory, language, words, text, rule):
    drop(memory.page, "[data-field=config]", "config.json", text)
    memory.answered("refused")
    message = memory.error("config")
    expect(message).to_be_visible()
    if rule:
        expect(message).to_contain_text(words[language][rule].partition("{position}")[0].partition("{field}")[2].strip())
    assert bool(re.search(r"[\u0621-\u064a]{3}", message.inner_text())) == (language == "ar")
    expect(memory.control("config")).to_have_attribute("aria-invalid", "true")
    memory.type("config", "")
    memory.answered()
    expect(message).to_be_hidden()


def test_a_file_that_is_far_too_large_is_not_read(memory, language, words):
    drop(memory.page, "[data-field=config]", "weights.json", "x" * 1_000_001)
    expect(memory.error("config")).to_have_text(words[language]["ui.file_too_large"])
    expect(memory.control("config")).to_have_value("")


def test_dimensions_typed_by_hand_are_a_config(memory, address_inputs):
    memory.section.locator(".ga-members > summary").click()
    for name, value in CONFIG.items():
        member = memory.section.locator(f"[data-member={name}]")
        if member.evaluate("(one) => one.tagName") == "SELECT":
            member.select_option("true" if value is True else value)
        else:
            member.fill("٢٨" if name == "num_hidden_layers" else str(value))
    memory.shows(parameters=QWEN3_06B)
    assert json.loads(memory.control("config").input_value()) == CONFIG | {"num_hidden_layers": "٢٨"}
    memory.answered()
    expect(memory.page).to_have_url(re.compile("config=.*tie_word_embeddings"))  # Written when the reader rests.
    assert json.loads(address_inputs(memory.page)["config"])["hidden_size"] == 1024


def test_methods_stand_side_by_side_with_the_gpu_each_needs(memory, language, words):
    table = memory.section.locator("[data-output=methods] tbody tr")
    expect(table).to_have_count(3)
    for row, method in enumerate(("full", "lora", "qlora")):
        text = words[language].get(f"choice.method.{method}", words[language][f"choice.{method}"])
        expect(table.nth(row).locator("td").first).to_have_text(text)
    expect(table.first.locator("td").last).to_contain_text("H100 80GB")
    search(memory).fill("llama-3.1-405b")
    search(memory).blur()
    expect(table.first.locator("td").last).to_have_text(words[language]["ui.no_gpu"])


def test_a_table_sorts_by_its_heads(memory):
    box = memory.section.locator("[data-output=ledger] .ga-table")
    sizes = box.locator("td[data-column=bytes]")

    def order():
        return [int(cell) for cell in sizes.evaluate_all("(cells) => cells.map((cell) => cell.dataset.order)")]

    printed = order()
    assert printed == sorted(printed, reverse=True)
    head = box.locator("th").nth(2)
    head.locator("button").focus()
    memory.page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    memory.page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert order() == sorted(printed)
    largest = sizes.last.inner_text()
    box.locator("tbody tr").last.evaluate("(row) => { row.dataset.stayed = 'yes'; }")
    memory.type("micro_batch", "2")
    expect(sizes.last).not_to_have_text(largest)
    expect(box.locator("tr[data-stayed]")).to_have_count(1)
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert order() == sorted(order())
    box.locator("th button").first.click()
    modules = box.locator("td[data-column=module]").all_inner_texts()
    assert len(modules) > 5
    expect(box.locator("th[aria-sort]")).to_have_count(1)
    box.locator("th button").first.click()
    box.locator("th button").first.click()
    expect(box.locator("th[aria-sort]")).to_have_count(0)


def test_the_ledger_says_why_and_how_much(memory, language, words):
    memory.choose("checkpointing", "none")
    memory.answered()
    row = memory.section.locator("[data-output=ledger] tbody tr", has_text="Silu.self")
    expect(row.locator("[data-column=formula]")).to_have_text("32·2·b·s·f")
    expect(row.locator("[data-column=reason]")).to_have_text(words[language]["reason.Silu"])


def test_pictures_are_drawn_again(memory):
    bar, columns = (memory.page.locator(f".ga-picture[data-picture={name}]") for name in ("budget", "phases"))
    expect(bar.locator("svg:visible .ga-excess path, svg:visible .ga-excess rect")).to_have_count(0)
    names = columns.locator("svg:visible").get_attribute("aria-label")
    search(memory, "gpu").fill("RTX 4090")
    search(memory, "gpu").blur()
    expect(bar.locator("svg:visible .ga-excess path, svg:visible .ga-excess rect")).to_have_count(1)
    expect(bar.locator("figcaption")).to_contain_text("24 GiB")
    expect(columns.locator("svg:visible")).not_to_have_attribute("aria-label", names)
    expect(columns.locator("svg:visible .ga-limit-text")).to_contain_text("RTX 4090")
    parts = columns.locator("svg:visible .ga-part rect, svg:visible .ga-part path").count()
    memory.type("accumulation_steps", "1")
    expect(columns.locator("svg:visible .ga-part rect, svg:visible .ga-part path")).not_to_have_count(parts)
    expect(columns.locator("svg:visible .ga-limit-text")).to_contain_text("RTX 4090")


def test_the_peft_text_is_copied_as_it_stands(memory, language, words):
    memory.choose("method", "qlora")
    code = memory.section.locator("[data-output=peft] pre code")
    expect(code).to_contain_text("BitsAndBytesConfig")
    memory.answered()
    expect(memory.status).to_have_text(words[language]["ui.updated"])
    copied = memory.copied(memory.section.locator("[data-output=peft] .ga-file-buttons button").first)
    assert copied == code.text_content()
    expect(memory.status).to_have_text(words[language]["ui.copied"])


def test_a_text_too_long_for_an_address_is_left_out_and_that_is_said(memory, language, words, address_inputs):
    memory.type("config", json.dumps(CONFIG | {"note": "x" * 7000}))
    memory.shows(parameters=QWEN3_06B)
    expect(memory.section.locator(".ga-too-long")).to_be_visible()
    assert "config" not in address_inputs(memory.page)
    memory.answered()
    memory.section.locator("[data-action=copy][data-format=link]").click()
    expect(memory.status).to_have_text(words[language]["ui.copied_cut"])
    memory.type("config", "")
    memory.answered()
    expect(memory.section.locator(".ga-too-long")).to_be_hidden()


@pytest.mark.parametrize("path, shown", [(MEMORY, {"parameters": QWEN3_06B}), (LORA, {"base_parameters": QWEN3_06B})])
def test_a_shared_address_restores_model_and_config(open_page, calculator_of, language, path, shown):
    shared = f"model=gpt2-xl&config={quote(json.dumps(CONFIG))}"
    calculator = calculator_of(open_page(f"{language}/{path}#{shared}"))
    calculator.shows(**shown)
    expect(search(calculator)).to_have_value("gpt2-xl")
    expect(calculator.section.locator("[data-member=hidden_size]")).to_have_value("1024")


@pytest.mark.parametrize("width, scheme", [(360, "dark"), (1280, "light")])
def test_axe_finds_nothing_in_an_open_search_and_form(memory, findings, in_scheme, width, scheme):
    page = memory.page
    page.set_viewport_size({"width": width, "height": 900})
    in_scheme(page, scheme)
    memory.section.locator(".ga-members > summary").click()
    search(memory).fill("llama")
    try:
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        search(memory).blur()
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("path", [MEMORY, LORA])
def test_without_scripts_there_are_a_plain_list_a_plain_text_and_plain_tables(open_page, language, path):
    page = open_page(f"{language}/{path}", java_script_enabled=False)
    expect(page.locator("select[name=model] option")).to_have_count(len(models()) + 1)
    expect(page.locator("select[name=model]")).to_be_visible()
    expect(page.locator("textarea[name=config]")).to_be_visible()
    expect(page.locator(".ga-drop, details.ga-members").locator("visible=true")).to_have_count(0)
    expect(page.locator(".ga-table th button")).to_have_count(0)
    expect(page.locator("[data-output=methods] tbody tr")).to_have_count(3)
