"""The benchmark without PyTorch: verdicts, result files, the table, the plots, the words."""

import json
import re

import pytest
from lxml import etree

from bench import plots, results, table, wording
from bench.claims import CLAIMS
from page_parts import benchmark
from page_parts.answers import PageError
from paths import DOCS

GREEN = {
    "gradient_fp64": {"relative_error": 3e-16},
    "gradient_fp32": {"relative_error": 2e-7},
    "gradient_bf16": {"relative_error": 0.004, "accumulated_rounding": 0.005, "whole_rounding": 0.004},
    "optimizer_update": {"adamw_error": 1e-12, "sgd_error": 1e-15, "sgd_undivided": 3.0, "adamw_undivided": 0.05},
    "token_counts": {"counted_error": 3e-16, "mean_of_means_error": 0.2},
    "batch_norm": {
        "batch_norm_error": 1.0, "running_variance_gap": 0.2, "frozen_error": 0.0, "layer_norm_error": 1e-16, "group_norm_error": 1e-16,
    },
    "dropout": {"one_draw_gap": 0.4, "mean_gap": 0.04, "without_dropout_error": 1e-16, "draws": 100},
    "clipping": {"clipped_once_error": 1e-16, "clipped_each_error": 0.3},
    "contrastive": {"plain_error": 0.8, "single_sample_gradient": 0.0, "cached_error": 1e-16},
    "bf16_buffer": {"bf16_sum": 256.0, "fp32_sum": 1024.0, "additions": 1024},
    "flat_peak": {"points": [{"accumulation_steps": a, "peak": 700 if a > 1 else 600} for a in (1, 2, 4, 64)]},
    "one_buffer": {"peak_one": 600, "peak_two": 700, "gradient_bytes": 100},
    "summed_losses": {"activations": 50, "points": [{"accumulation_steps": a, "peak": 100 + 50 * a} for a in (2, 3, 4)]},
    "affine_in_b": {
        "ledger_slope": 10, "dry_run_slope": 10, "points": [{"micro_batch": b, "saved": 7 + 10 * b, "peak": 90 + 12 * b} for b in (2, 3, 4, 8)],
    },
    "predicted_peaks": {"rows": [{"name": "fp32", "predicted": 1000, "peak": 1001}, {"name": "bf16", "predicted": 500, "peak": 499}]},
    "throughput": {"points": [{"micro_batch": b, "median": 8 / b, "low": 7 / b, "high": 9 / b} for b in (1, 2, 8)]},
    "effective_batch": {
        "samples": 16, "expected_samples": 16, "relative_error": 1e-16, "largest_difference_between_ranks": 0.0,
    },
    "one_all_reduce": {"with_no_sync": 1.0, "without_no_sync": 4.0, "accumulation_steps": 4},
    "misplaced_no_sync": {"around_backward": 4.0, "accumulation_steps": 4},
    "fsdp2_deferred": {"deferred_bytes": 800, "sharded_bytes": 400, "parameter_bytes": 800, "relative_error": 1e-16},
    "token_counts_ranks": {
        "counted_error": 1e-16, "local_means_error": 0.1, "without_factor_error": 0.5, "expected_without_factor": 0.495,
    },
}  # fmt: skip

RED = {
    "gradient_fp64": {"relative_error": 3.0},
    "gradient_fp32": {"relative_error": 2e-6},
    "gradient_bf16": {"relative_error": 0.04},
    "optimizer_update": {"sgd_error": 3.0},
    "token_counts": {"mean_of_means_error": 1e-16},
    "batch_norm": {"layer_norm_error": 0.2},
    "dropout": {"mean_gap": 0.4},
    "clipping": {"clipped_each_error": 0.0},
    "contrastive": {"single_sample_gradient": 0.1},
    "bf16_buffer": {"bf16_sum": 1024.0},
    "flat_peak": {"points": [{"accumulation_steps": a, "peak": 700 + a} for a in (2, 4)]},
    "one_buffer": {"peak_two": 600},
    "summed_losses": {"points": [{"accumulation_steps": a, "peak": 100} for a in (2, 4)]},
    "affine_in_b": {"ledger_slope": 11},
    "predicted_peaks": {"rows": [{"predicted": 1000, "peak": 1006}]},
    "throughput": {"points": [{"micro_batch": 1, "median": 0.9}, {"micro_batch": 8, "median": 1.0}]},
    "effective_batch": {"samples": 8},
    "one_all_reduce": {"with_no_sync": 4.0},
    "misplaced_no_sync": {"around_backward": 1.0},
    "fsdp2_deferred": {"deferred_bytes": 400},
    "token_counts_ranks": {"without_factor_error": 1e-16},
}
LANGUAGES = ("en", "ar")


def document(**claims):
    made = results.begin(
        "llama-tiny", {"kind": "cpu", "name": "CPU x86_64 2 cores"}, {"ranks": 2, "nodes": 1, "backend": "gloo"}, {}
    )
    for name, measured in (claims or GREEN).items():
        results.note(made, name, measured)
    return made


def test_every_claim_has_a_green_and_a_red_row():
    assert list(GREEN) == list(RED) == list(CLAIMS)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_holds_and_can_fail(name):
    assert CLAIMS[name].judge(GREEN[name], "cpu") == "holds"
    assert CLAIMS[name].judge(GREEN[name] | RED[name], "cpu") == "fails"


@pytest.mark.parametrize("name", CLAIMS)
def test_without_figures_there_is_no_verdict(name):
    assert CLAIMS[name].judge({}, "cpu") == "inconclusive"


@pytest.mark.parametrize(
    "name, part", [("gradient_fp64", {"relative_error": None}), ("gradient_fp64", {"relative_error": float("nan")})]
)
def test_what_is_no_number_holds_nothing(name, part):
    assert CLAIMS[name].judge(part, "cpu") == "fails"


@pytest.mark.parametrize("kind, verdict", [("cpu", "fails"), ("cuda", "holds")])
def test_an_allocator_gets_a_tolerance_that_tracked_bytes_do_not(kind, verdict):
    points = [{"accumulation_steps": 2, "peak": 1000}, {"accumulation_steps": 64, "peak": 1004}]
    assert CLAIMS["flat_peak"].judge({"points": points}, kind) == verdict


@pytest.mark.parametrize("slope, verdict", [(10, "holds"), (11, "fails"), (None, "holds")])
def test_a_dry_run_counts_where_there_is_one(slope, verdict):
    assert CLAIMS["affine_in_b"].judge(GREEN["affine_in_b"] | {"dry_run_slope": slope}, "cpu") == verdict


@pytest.mark.parametrize(
    "measured, stopped, verdict",
    [
        ({}, {"reason": "ranks"}, "not_measured"),
        ({"points": GREEN["flat_peak"]["points"][:3]}, {"reason": "out_of_memory", "message": "full"}, "holds"),
        ({"points": GREEN["flat_peak"]["points"][:2]}, {"reason": "out_of_memory", "message": "full"}, "not_measured"),
        ({"points": GREEN["flat_peak"]["points"]}, {"reason": "error", "message": "ValueError: x"}, "not_measured"),
        ({"points": []}, None, "inconclusive"),
    ],
)
def test_a_claim_that_stopped_early_is_judged_by_what_it_reached(measured, stopped, verdict):
    made = document(gradient_fp64=GREEN["gradient_fp64"])
    results.note(made, "flat_peak", measured, stopped=stopped)
    entry = made["claims"]["flat_peak"]
    assert (entry["verdict"], entry["measured"], entry.get("stopped")) == (verdict, measured, stopped)
    for language in LANGUAGES:
        assert wording.why(entry, language) in table.line("flat_peak", made, language)
        assert wording.why(entry, language) in table.whole(made, language)


def test_a_saved_document_comes_back_and_leaves_nothing_beside_it(tmp_path):
    made = document()
    path = tmp_path / "new" / results.file_name(made)
    results.save(made, path)
    results.save(made, path)
    assert results.load(tmp_path / "new") == [made | {"file": path.name}]
    assert list((tmp_path / "new").iterdir()) == [path]


def test_documents_come_oldest_first(tmp_path):
    for name, date in (("a", "2026-12-01"), ("b", "2026-11-01")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"date": date}))
    assert [one["date"] for one in results.load(tmp_path)] == ["2026-11-01", "2026-12-01"]


def finished(**changes):
    return document() | {"state": "complete"} | changes


FAULTS = {
    "nothing": ({}, None),
    "another format": ({"format": 2}, "format"),
    "interrupted": ({"state": "interrupted"}, "interrupted"),
    "killed": ({"state": "running"}, "running"),
    "broken": ({"settings": {"broken": "division"}}, "broken"),
    "rehearsed": ({"settings": {"rehearse": True}}, "rehearse"),
    "on a smaller device": ({"settings": {"memory_limit": 5}}, "memory_limit"),
    "another date": ({"date": "2020-01-01"}, "should be called"),
    "a claim too few": (
        {"claims": {k: {"verdict": "holds", "measured": v} for k, v in GREEN.items() if k != "dropout"}},
        "dropout",
    ),
    "a verdict not its own": (
        {"claims": {k: {"verdict": "holds", "measured": v | (RED[k] if k == "dropout" else {})} for k, v in GREEN.items()}},
        "its figures say fails",
    ),
}


@pytest.mark.parametrize("changes, said", FAULTS.values(), ids=FAULTS)
def test_what_keeps_a_result_from_being_shown(changes, said):
    name = results.file_name(finished())
    found = results.faults(finished(**changes), name)
    assert (len(found), said in " ".join(found)) == (1, True) if said else found == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_and_figure_has_its_words(name, language):
    said = wording.words(language)
    claim = CLAIMS[name]
    keys = {
        f"claim.{name}",
        *(f"figure.{rule.figure}" for rule in claim.rules),
        *(f"figure.{figure}" for figure in claim.shown),
    }
    assert keys <= set(said)
    rows = wording.shown(claim, {"measured": GREEN[name]}, "cpu")
    assert [figure for figure, _, _ in rows] == [rule.figure for rule in claim.rules] + list(claim.shown)


def test_both_languages_have_the_same_words_in_the_same_order():
    english, arabic = wording.words("en"), wording.words("ar")
    assert list(english) == list(arabic)
    assert {key for key, text in arabic.items() if not re.search("[\u0600-\u06ff]", text)} == {"figure.expected_samples"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_names_every_claim_its_verdict_and_the_state(language):
    made = finished()
    said = wording.words(language)
    whole = table.whole(made, language)
    assert said["state.complete"] in whole
    for name in CLAIMS:
        assert wording.statement(name, language) in whole
        assert said["verdict.holds"] in table.line(name, made, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", plots.PLOTS)
def test_a_plot_is_one_line_of_svg_with_a_mark_for_every_point(name, language):
    picture = plots.draw(name, GREEN[name], language)
    assert "\n" not in picture
    root = etree.fromstring(picture)
    tags = [str(element.tag).rpartition("}")[2] for element in root.iter()]
    marks = {
        "flat_peak": ("circle", 4),
        "affine_in_b": ("circle", 8),
        "throughput": ("circle", 3),
        "predicted_peaks": ("rect", 4),
    }
    tag, count = marks[name]
    assert tags.count(tag) == count
    assert root.find("{*}title").text == wording.words(language)[f"plot.{name}"]


@pytest.mark.parametrize(
    "name, measured",
    [
        ("gradient_fp64", GREEN["gradient_fp64"]),
        ("flat_peak", {"points": []}),
        ("predicted_peaks", {"rows": [{"predicted": 1}]}),
    ],
)
def test_where_there_is_nothing_to_draw_nothing_is_drawn(name, measured):
    assert plots.draw(name, measured, "en") == ""


def test_plots_are_written_beside_the_result(tmp_path):
    plots.write_plots(document(), tmp_path / "run.json", "en")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"run_{name}.svg" for name in plots.PLOTS)


def test_every_installed_package_is_named(monkeypatch):
    monkeypatch.setattr(results, "PACKAGES", ("pytest", "no-such-package"))
    assert set(results.installed()) == {"pytest"}


# What the pages show of the committed result files.


def test_the_committed_results_can_be_shown():
    committed = results.load(benchmark.FOLDER)
    assert committed
    assert [fault for one in committed for fault in results.faults(one, one["file"])] == []


@pytest.fixture
def shown(monkeypatch):
    """Let the pages see these documents instead of the committed ones."""
    return lambda *found: monkeypatch.setattr(benchmark, "documents", lambda: found)


def on_gpu(**changes):
    gpu = {"device": {"kind": "cuda", "name": "Some GPU"}, "file": "gpu.json"}
    return finished(**gpu, **changes)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_has_its_section_on_the_page(name, language):
    page = (DOCS / language / "evidence" / "benchmark.md").read_text(encoding="utf-8")
    assert page.count(f"{{#{name}}}") == page.count(f'[= claim("{name}") =]') == 1
    assert f'href="#{name}"' in benchmark.claims(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_claim_without_a_gpu_run_says_so_until_there_is_one(language, shown):
    said = wording.words(language)
    shown(finished(file="cpu.json"))
    assert said["ui.no_gpu"] in benchmark.claim("flat_peak", language)
    assert said["ui.no_gpu"] in benchmark.runs(language)
    assert benchmark.claims(language).count(said["ui.not_yet"]) == len(CLAIMS)
    shown(finished(file="cpu.json"), on_gpu())
    assert said["ui.no_gpu"] not in benchmark.claim("flat_peak", language) + benchmark.runs(language)
    assert said["ui.not_yet"] not in benchmark.claims(language)
    assert benchmark.plot("flat_peak", language).count("<svg") == 2


def test_a_claim_that_failed_is_shown_as_failed(shown):
    broken = on_gpu()
    results.note(
        broken,
        "flat_peak",
        GREEN["flat_peak"] | {"points": RED["flat_peak"]["points"] + [{"accumulation_steps": 8, "peak": 900}]},
    )
    shown(finished(file="cpu.json"), broken)
    assert "✗ fails" in benchmark.claim("flat_peak", "en")
    assert benchmark.claims("en").count("✗ fails") == 1


def test_a_run_that_stopped_early_says_where(shown):
    small = on_gpu()
    results.note(small, "flat_peak", GREEN["flat_peak"], stopped={"reason": "out_of_memory", "message": "full"})
    shown(small)
    assert "Some GPU: stopped when the device ran out of memory" in benchmark.claim("flat_peak", "en")


def test_configurations_show_difference_kernel_and_what_did_not_fit(shown):
    rows = [
        {"name": "fits", "predicted": 2**20, "peak": 2**20 + 2**18, "kernel": "flash"},
        {"name": "checkpointed", "predicted": 2**20, "peak": 2**20, "kernel": None},
        {"name": "too-large", "predicted": 2**30, "out_of_memory": "full"},
    ]
    document_ = on_gpu()
    results.note(document_, "predicted_peaks", {"rows": rows})
    shown(document_)
    page = benchmark.peaks("en")
    for text in ("+25.00 %", "1.25 MiB", "flash", "not read", "out of memory"):
        assert text in page


PAGE_FAULTS = {
    "no such claim": lambda: benchmark.claim("flat", "en"),
    "no such figure": lambda: benchmark.figure("flat_peak", "height"),
    "nothing to draw": lambda: benchmark.plot("clipping", "en"),
}


@pytest.mark.parametrize("call", PAGE_FAULTS.values(), ids=PAGE_FAULTS)
def test_what_a_page_asks_for_and_is_not_there_stops_the_build(call):
    with pytest.raises(PageError):
        call()


def test_a_result_that_must_not_be_shown_stops_the_build(tmp_path, monkeypatch):
    made = finished(state="interrupted")
    results.save(made, tmp_path / results.file_name(made))
    monkeypatch.setattr(benchmark, "FOLDER", tmp_path)
    with pytest.raises(PageError, match="interrupted"):
        benchmark.documents.__wrapped__()
