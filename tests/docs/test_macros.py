"""The macros: numbers come from the package, faults stop the build, and the markup is what the page's module takes hold of."""

import json
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

import docs_macros
from gradaccum.api import answer, run
from gradaccum.calculators import CALCULATORS, FORMS
from gradaccum.messages import LANGUAGES
from page_parts.answers import PageError, starting_inputs
from page_parts.pictures import LIT, LOOP, loop_html

BOTH = pytest.mark.parametrize("language", LANGUAGES)
EVERY = pytest.mark.parametrize("name", FORMS)


def parsed(html):
    return BeautifulSoup(html, "lxml")


@BOTH
@pytest.mark.parametrize("replicas, batch", [(1, "32"), (4, "128")])
def test_out_is_a_quantity_that_keeps_its_direction(language, replicas, batch):
    out = docs_macros.macros(language)["out"]
    inputs = {"micro_batch": 4, "accumulation_steps": 8, "replicas": replicas, "activation_per_sample": "0.5 GB"}
    assert out("accumulation", "effective_batch", **inputs) == f'<bdi dir="ltr">{batch}</bdi>'
    assert out("accumulation", "activation_memory", **inputs) == '<bdi dir="ltr">2 GB</bdi>'


@pytest.mark.parametrize(
    "language, tokens, shown",
    [
        ("en", [[2, 8]], "2.5 and 0.625"),
        ("en", [[52], [84]], "1.308 and 0.8095"),
        ("en", [[1, 2], [3, 4]], "2.5, 1.25, 0.8333 and 0.625"),
        ("ar", [[2, 8]], "2.5 و0.625"),
        ("ar", [[1, 2], [3, 4]], "2.5، 1.25، 0.8333 و0.625"),
    ],
)
def test_the_cells_of_a_table_are_listed_in_words(language, tokens, shown):
    html = docs_macros.macros(language)["out"]("loss_weights", "token_weights", tokens=tokens)
    assert parsed(html).get_text() == shown
    assert html.count("<bdi") == sum(map(len, tokens))


@pytest.mark.parametrize(
    "macro, argument, shown",
    [
        ("size", "0.5 GB", "500 MB"),
        ("size", "24 GiB", "24 GiB"),
        ("number", 4096, "4,096"),
        ("number", "0.25", "0.25"),
        ("number", 0, "0"),
    ],
)
def test_quantities(macro, argument, shown):
    assert docs_macros.macros("en")[macro](argument) == f'<bdi dir="ltr">{shown}</bdi>'


def test_description_of_a_page_is_safe_between_quotes():
    page = SimpleNamespace(meta={"description": 'Batches & "updates" of a < b'})
    docs_macros.on_pre_page_macros(SimpleNamespace(page=page))
    head = parsed(f'<meta name="description" content="{page.meta["description"]}">')
    assert head.meta["content"] == 'Batches & "updates" of a < b'


def test_a_page_may_have_no_description():
    page = SimpleNamespace(meta={"title": "A page"})
    docs_macros.on_pre_page_macros(SimpleNamespace(page=page))
    assert page.meta == {"title": "A page"}


FAULTS = {
    "no such calculator": lambda m: m["calculator"]("accumulate"),
    "a calculator that answers several questions": lambda m: m["calculator"]("experiment"),
    "no such question": lambda m: m["calculator"]("experiment.cliping"),
    "no such output": lambda m: m["out"]("accumulation", "batch", micro_batch=4, accumulation_steps=8),
    "an output that these inputs do not give": lambda m: m["out"](
        "accumulation", "activation_memory", micro_batch=4, accumulation_steps=8
    ),
    "inputs that are refused": lambda m: m["steps"]("accumulation", micro_batch=0, accumulation_steps=8),
    "no such picture": lambda m: m["picture"]("accumulation", "tower"),
    "no such snippet": lambda m: m["snippet"]("none.py"),
    "a snippet elsewhere": lambda m: m["snippet"]("../glossary.csv"),
}


@pytest.mark.parametrize("call", FAULTS.values(), ids=FAULTS)
def test_a_fault_stops_the_build(call):
    with pytest.raises(PageError):
        call(docs_macros.macros("en"))


@BOTH
@EVERY
def test_form_has_every_field_labelled_and_starts_with_its_example(language, name):
    section = parsed(docs_macros.macros(language)["calculator"](name)).section
    declared = FORMS[name]
    assert (section["data-calculator"], section["data-language"]) == (declared.name, language)
    form = section.form
    question = declared.fields[: bool(declared.topic)]
    assert [control["value"] for control in form.select("input[type=hidden]")] == [declared.topic for _ in question]
    for field in declared.fields[len(question) :]:
        box = form.find(attrs={"data-field": field.name})
        control = box.find(["input", "select", "textarea"], attrs={"name": field.name})
        assert box.label["for"] == control["id"]
        assert [box.find(id=ident) is not None for ident in control["aria-describedby"].split()] == [True, True]
        if field.kind == "flag":
            assert control.has_attr("checked") == (field.example == "true")
        elif field.kind in ("choice", "choices"):
            chosen = [option["value"] for option in control.find_all("option") if option.has_attr("selected")]
            assert chosen in ([str(field.example or field.default or "")], [])
        else:
            start = control.text if control.name == "textarea" else control["value"]
            assert (start, control["dir"]) == (field.example, "ltr")
    assert len(form.find_all(attrs={"data-field": True})) == len(declared.fields) - len(question)


def shown_value(box):
    """The figure of a result, the names of its files, or the cells of its table."""
    if box.find("output"):
        return box.find("output").text
    if box.find(class_="ga-files"):
        return ", ".join(file["data-name"] for file in box.find_all(class_="ga-file"))
    return [[cell.text for cell in row.find_all("td")] for row in box.tbody.find_all("tr")]


@BOTH
@EVERY
def test_result_printed_into_the_page_is_the_package_s_answer(language, name):
    section = parsed(docs_macros.macros(language)["calculator"](name)).section
    expected = answer({"calculator": FORMS[name].name, "inputs": starting_inputs(name), "language": language, "view": True})
    shown = {box["data-output"]: shown_value(box) for box in section.find_all(class_="ga-output")}
    tables = {output["name"]: output["table"] and output["table"]["rows"] for output in expected["view"]["outputs"]}
    assert shown == {output["name"]: tables[output["name"]] or output["text"] for output in expected["view"]["outputs"]}
    assert [p.text for p in section.select(".ga-steps p")] == [step["text"] for step in expected["steps"]]
    assert [p["data-note"] for p in section.select(".ga-notes p")] == [note["code"] for note in expected["notes"]]
    assert {button["data-format"] for button in section.select(".ga-copy [data-format]")} == {"text", "json", "command", "link"}


@pytest.mark.parametrize(
    "macro, arguments", [("calculator", ["accumulation"]), ("fields", ["updates"]), ("outputs", ["updates"])]
)
def test_markup_stands_on_one_line(macro, arguments):
    assert "\n" not in docs_macros.macros("en")[macro](*arguments)


@BOTH
@pytest.mark.parametrize("picture", CALCULATORS["accumulation"].pictures)
def test_figure_carries_drawing_summary_and_data(language, picture):
    figure = parsed(docs_macros.macros(language)["picture"]("accumulation", picture)).figure
    data = json.loads(figure.find(class_="ga-data").text)
    assert figure.find("svg") is not None
    assert figure.figcaption.text.replace("\u00a0", " ") == data["summary"], "the same, but for where a line may end"
    assert figure["data-live"] == "true"
    assert not figure.find("script"), "the theme strips attributes of scripts after an instant navigation"


def test_figure_with_inputs_of_its_own_is_not_redrawn():
    inputs = {"micro_batch": 1, "accumulation_steps": 2, "activation_per_sample": "1 GB"}
    figure = parsed(docs_macros.macros("en")["picture"]("accumulation", "window", inputs=inputs)).figure
    assert figure["data-live"] == "false"


def test_every_phase_lights_a_line_of_the_loop():
    lines = parsed(loop_html(LOOP.read_text(encoding="utf-8"))).find_all(class_="ga-line")
    assert {line["data-line"] for line in lines if line.has_attr("data-line")} == set(LIT)


def test_a_loop_without_one_of_the_lines_stops_the_build():
    with pytest.raises(PageError, match="update"):
        loop_html(LOOP.read_text(encoding="utf-8").replace("optimizer.step()", "pass"))


@BOTH
@EVERY
def test_reference_has_a_row_for_everything_declared(language, name):
    macros = docs_macros.macros(language)
    for macro, declared in (("fields", FORMS[name].fields), ("outputs", FORMS[name].outputs)):
        rows = parsed(macros[macro](name)).tbody.find_all("tr")
        assert [row.td.text for row in rows] == [entry.name for entry in declared]


@BOTH
@EVERY
def test_request_example_is_answered(language, name):
    blocks = docs_macros.macros(language)["request_example"](name).split("\n\n")
    request, response = (json.loads(block.split("\n", 1)[1].rsplit("\n", 1)[0]) for block in blocks)
    assert json.loads(run(json.dumps(request))) == response
    assert response["ok"]


LLAMA = {"model": "llama-3-8b", "sequence_length": 4096, "micro_batch": 1}


@pytest.mark.parametrize(
    "macro, arguments, inputs, shown",
    [
        ("exact", ["training_memory", "activations"], {}, "28,562,244,364 B"),
        ("kept", ["NllLoss.target"], {"exact": True}, "32,776 B"),
        ("kept", ["norm Pow.self"], {}, "4.06 GiB"),
        ("phase", ["optimizer_step", "temporaries"], {}, "14.96 GiB"),
    ],
)
def test_figures_from_inside_a_training_memory_answer(macro, arguments, inputs, shown):
    assert docs_macros.macros("ar")[macro](*arguments, **LLAMA, **inputs) == f'<bdi dir="ltr">{shown}</bdi>'


INSIDE = {
    "exact bytes of what is no size": lambda m: m["exact"]("training_memory", "fits", **LLAMA, gpu="H100 80GB"),
    "a line that the ledger lacks": lambda m: m["kept"]("Tanh.result", **LLAMA),
    "a phase that these inputs do not give": lambda m: m["phase"]("later_forward", "peak", **LLAMA),
    "a part that no phase has": lambda m: m["phase"]("optimizer_step", "loss", **LLAMA),
}


@pytest.mark.parametrize("call", INSIDE.values(), ids=INSIDE)
def test_a_figure_that_is_not_inside_stops_the_build(call):
    with pytest.raises(PageError):
        call(docs_macros.macros("en"))


def test_a_recorded_dry_run_is_shown_in_words_and_taken_by_the_planner():
    for language, word in (("en", "Peak memory"), ("ar", "ذروة الذاكرة")):
        shown = docs_macros.macros(language)
        assert word in shown["dry_run_result"]()
        assert "<polyline" in shown["dry_run_picture"]()
    assert set(shown["dry_run_plan"]()) == {"activation_per_sample", "fixed_memory"}
    assert "GiB" in shown["dry_run_figure"]("plan.floor")
    with pytest.raises(PageError):
        shown["dry_run_figure"]("plan.nothing")
