import re
from string import Formatter

import pytest

from gradaccum import messages
from gradaccum.calculators import CALCULATORS, FORMS

ENGLISH, ARABIC = messages.catalogue("en"), messages.catalogue("ar")


def placeholders(text):
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def test_both_languages_have_the_same_keys_in_the_same_order():
    assert list(ENGLISH) == list(ARABIC)


@pytest.mark.parametrize("key", ENGLISH)
def test_both_languages_fill_the_same_places(key):
    assert placeholders(ENGLISH[key]) == placeholders(ARABIC[key])


@pytest.mark.parametrize("calculator", (CALCULATORS | FORMS).values(), ids=lambda c: c.stem)
def test_every_declared_name_has_its_words(calculator):
    keys = [f"calculator.{calculator.name}.summary", f"{calculator.stem}.title"]
    keys += [f"field.{field.name}.{part}" for field in calculator.fields for part in ("label", "help")]
    keys += [f"output.{output.name}.label" for output in calculator.outputs]
    keys += [f"kind.{declared.kind}" for declared in (*calculator.fields, *calculator.outputs)]
    assert [key for key in keys if not messages.has(key, "en") or not messages.has(key, "ar")] == []


@pytest.mark.parametrize(
    "key, text", [(k, t) for k, t in ARABIC.items() if not k.startswith(("ui.copy_json", "choice.lora", "choice.qlora"))]
)
def test_arabic_is_arabic(key, text):
    assert re.search("[\u0600-\u06ff]", text), key
    assert not re.search("[٠-٩]", text), "shown digits are Western"


def test_a_number_stands_before_its_unit_in_arabic_too():
    """Between Arabic words "0.5 GB" reads "GB 0.5" and "1/a" reads "a/1", unless the two are set apart."""
    turned = re.compile(r"[\u0621-\u064a][^A-Za-z\u0621-\u064a]*\d(?:[./·]| (?:[/·×=+<>-] )?)[A-Za-z]")
    assert turned.search("مثل 0.5 GB")
    assert turned.search("بقي منه 1/a.")
    assert [key for key, text in ARABIC.items() if turned.search(re.sub("[\u2066-\u2068][^\u2069]*\u2069", "", text))] == []


def test_an_unknown_message_is_an_error():
    with pytest.raises(KeyError):
        messages.text("no.such.message", "en")
