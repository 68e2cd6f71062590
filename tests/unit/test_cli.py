import io
import json
import runpy
import sys

import pytest

from gradaccum import __version__, cli, figures

DEFAULTS = ["accumulation", "--micro-batch", "4", "--accumulation-steps", "8", "--activation-per-sample", "0.5 GB"]
REQUEST = '{"calculator": "batch_split", "inputs": {"effective_batch": 64, "micro_batch": 4}}'


def test_run_prints_the_response_and_nothing_else(capsys):
    assert cli.main(["run", REQUEST]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["outputs"]["accumulation_steps"] == 16
    assert printed.err == ""


def test_run_reads_standard_input(capsys, monkeypatch):
    for words in (["run", "-"], ["run"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(REQUEST.encode())))
        assert cli.main(words) == 0
        assert json.loads(capsys.readouterr().out)["ok"]


def test_run_refuses_bytes_that_are_no_text(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe{")))
    assert cli.main(["run", "-"]) == 2
    assert json.loads(capsys.readouterr().out)["errors"][0]["code"] == "malformed"


def test_a_refused_request_is_json_on_standard_output_with_status_2(capsys):
    assert cli.main(["run", "{"]) == 2
    printed = capsys.readouterr()
    assert not json.loads(printed.out)["ok"]
    assert printed.err == ""


def test_the_friendly_face_prints_a_table(capsys):
    assert cli.main([*DEFAULTS, "--gpu", "RTX", "3060", "12GB"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].split()[-1] == "32"
    assert "2 GB   (2,000,000,000 bytes = 1.86 GiB)" in lines[1]
    assert "* At once" in out


def test_a_blank_in_a_value_needs_no_quotes(capsys):
    assert cli.main([*DEFAULTS[:-1], "0.5", "GB"]) == 0
    assert "2 GB" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[*DEFAULTS, "--lang", "ar"], ["--language", "ar", *DEFAULTS], ["--lang=ar", *DEFAULTS]])
def test_the_friendly_face_speaks_arabic(words, capsys):
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    assert "الدفعة الفعّالة" in out
    assert "32" in out


def test_columns_line_up_although_vowel_marks_take_none(capsys):
    cli.main(["batch-split", "--effective-batch", "64", "--micro-batch", "4", "--lang=ar"])
    rows = capsys.readouterr().out.splitlines()[:4]
    starts = {figures.width(row.rstrip("0123456789")) for row in rows}
    assert len(starts) == 1


def test_a_table_output_goes_on_under_its_first_line(capsys):
    assert cli.main(["loss-weights", "--tokens", "2 8; 4 4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(line for line in lines if "2.25" in line)
    assert lines[lines.index(first) + 1].index("1.125") == first.index("2.25")


@pytest.mark.parametrize(
    "words, told",
    [
        (["accumulation"], ["--micro-batch: ", "--accumulation-steps: "]),
        (["accumulation", "--micro-bach", "4"], ["Did you mean micro_batch?"]),
        (["accumulation", "--micro-batch"], ["--micro-batch expects a value."]),
        ([*DEFAULTS, "--micro-batch", "-3"], ["must be at least 1, not -3"]),
        (["acumulation"], ["Did you mean accumulation?"]),
        (["accumulation", "replicas", *DEFAULTS[1:]], ["no field named replicas"]),
        (["lora", "--rank", "8", "--config", "nowhere/config.json"], ["--config: nowhere/config.json is no file"]),
        (["lora", "--rank", "8", "--config", "."], ["--config: . is no file"]),
        ([*DEFAULTS, "--lang", "fr"], ["--lang: ", "fr"]),
        (["run", REQUEST, "--json"], ["--json"]),
        (["acumulation", "--lang", "ar"], ["هل تقصد"]),
        (["--lang=ar", "acumulation"], ["هل تقصد"]),
        (["accumulation", "--micro-batch", "x", "--lang", "ar"], ["عددًا صحيحًا"]),
    ],
)
def test_refusals_name_the_option_on_standard_error(words, told, capsys):
    assert cli.main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert all(text in printed.err for text in told)


def test_a_command_is_known_by_its_calculator_s_name_too(capsys):
    assert cli.main(["batch_split", "--effective-batch", "64", "--micro-batch", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"]["accumulation_steps"] == 16


def test_a_config_is_typed_or_read_from_its_file(tmp_path, capsys):
    config = '{"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100, "n_positions": 64}'
    file = tmp_path / "config.json"
    file.write_text(config, encoding="utf-8-sig")
    found = []
    for entered in (config, str(file)):
        assert cli.main(["lora", "--rank", "8", "--config", entered, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["outputs"]["base_parameters"])
    # Embeddings of 100 words and 64 places; per block 12 n^2 weights, 9 n biases, 4 n of norms; the last norm.
    assert found == [64 * (100 + 64) + 2 * (12 * 64**2 + 13 * 64) + 2 * 64] * 2


def test_json_from_the_friendly_face_is_the_contract_s(capsys):
    assert cli.main([*DEFAULTS, "--json"]) == 0
    response = json.loads(capsys.readouterr().out)
    assert response["outputs"]["effective_batch"] == 32
    assert "view" not in response
    assert cli.main(["accumulation", "--json"]) == 2
    assert not json.loads(capsys.readouterr().out)["ok"]


@pytest.mark.parametrize("words, status", [([], 0), (["--nonsense"], 2), (["--lang", "ar"], 0)])
def test_without_a_command_the_help_is_printed(words, status, capsys):
    assert cli.main(words) == status
    assert "batch-split" in capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out.split() == ["gradaccum", __version__]


@pytest.mark.parametrize("language", ["ar", "en"])
@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_is_made_from_the_declarations(command, language):
    text = cli.help_text(command, language)
    for field in cli.COMMANDS[command].fields:
        assert cli.OPTIONS.get(field.name, cli.option(field.name)) in text
    assert "..." not in text


def test_help_starts_with_usage_in_the_reader_s_language(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["batch-split", "--help", "--lang", "ar"])
    assert capsys.readouterr().out.startswith("الاستعمال: gradaccum batch-split")


def test_flags_take_no_value(capsys):
    words = ["updates", "--dataset-size", "10", "--micro-batch", "4", "--accumulation-steps", "1", "--drop-last", "--json"]
    assert cli.main(words) == 0
    assert json.loads(capsys.readouterr().out)["inputs"]["drop_last"] is True


def test_a_reader_that_stops_reading_is_no_error(monkeypatch):
    class Closed(io.StringIO):
        def write(self, _):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    assert cli.main(DEFAULTS) == 0
    sys.stdout.close()


def test_any_stream_will_do(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert cli.main([*DEFAULTS, "--lang", "ar"]) == 0
    assert "32" in sys.stdout.getvalue()


def test_the_module_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["gradaccum", "run", REQUEST])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("gradaccum", run_name="__main__")
    assert json.loads(capsys.readouterr().out)["ok"]


def test_a_recipe_prints_its_files_whole(capsys):
    assert cli.main(["recipe", "--framework", "trainer", "--micro-batch", "2", "--accumulation-steps", "8"]) == 0
    printed = capsys.readouterr().out
    assert "\n--- train.py\n# E = b · a · g = 2 · 8 · 1 = 16\nimport torch\n" in printed
