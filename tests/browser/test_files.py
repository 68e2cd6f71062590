"""An answer's files: behind tabs, to copy and to download, and new ones when an input changes."""

import pytest
from playwright.sync_api import expect


@pytest.fixture
def recipe(open_page, calculator_of, language):
    page = open_page(f"{language}/calculators/recipe/")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return page, calculator_of(page)


def test_files_stand_behind_tabs(recipe, words, language):
    _, calculator = recipe
    tabs = calculator.section.get_by_role("tab")
    expect(tabs).to_have_text(["train.py", "launch.sh"])
    expect(calculator.section.get_by_role("tabpanel")).to_contain_text("accumulation_steps=64")
    tabs.nth(1).click()
    expect(calculator.section.get_by_role("tabpanel")).to_contain_text("torchrun --nproc-per-node 2 train.py")
    tabs.nth(1).press("ArrowRight" if language == "ar" else "ArrowLeft")
    expect(tabs.nth(0)).to_be_focused()
    panel = calculator.section.get_by_role("tabpanel")
    copied = calculator.copied(panel.get_by_role("button", name=words[language]["ui.copy_file"]))
    assert copied == panel.locator("code").text_content()
    expect(calculator.status).to_have_text(words[language]["ui.copied"])


def test_a_file_is_downloaded_under_its_name(recipe, words, language):
    page, calculator = recipe
    with page.expect_download() as download:
        calculator.section.get_by_role("button", name=words[language]["ui.download_file"]).first.click()
    assert download.value.suggested_filename == "train.py"


def test_another_framework_has_other_files(recipe):
    _, calculator = recipe
    calculator.section.locator("select[name=framework]").select_option("deepspeed")
    calculator.answered()
    expect(calculator.section.get_by_role("tab")).to_have_text(["train.py", "ds_config.json", "launch.sh"])
