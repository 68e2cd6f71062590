from fractions import Fraction

import pytest

from gradaccum import figures, tex


@pytest.mark.parametrize(
    "size, system, text",
    [
        (1, "decimal", "1 B"),
        (999, "decimal", "999 B"),
        (1_000, "decimal", "1 kB"),
        (2_000_000_000, "decimal", "2 GB"),
        (16_500_000_000, "decimal", "16.5 GB"),
        (1_234_567, "decimal", "1.23 MB"),
        (1_023, "binary", "1,023 B"),
        (25_769_803_776, "binary", "24 GiB"),
        (1_610_612_736, "binary", "1.5 GiB"),
        (10**21, "decimal", "1,000,000 PB"),
        (0, "decimal", "0 B"),
    ],
)
def test_sizes(size, system, text):
    assert figures.format_size(size, system) == text


@pytest.mark.parametrize(
    "size, unit, text",
    [
        (500_000_000, "GB", "0.5 GB"),
        (536_870_912, "GiB", "0.5 GiB"),
        (1_234_567, "GB", "1,234,567 B"),
        (1_234_567, "MB", "1.234567 MB"),
        (2304, "B", "2,304 B"),
    ],
)
def test_an_entered_size_is_never_rounded(size, unit, text):
    assert figures.format_exact_size(size, unit) == text


@pytest.mark.parametrize(
    "number, text",
    [
        (Fraction(2, 3), "0.666667"),
        (Fraction(3, 10_000), "0.0003"),
        (Fraction(2, 100_000), "2e-5"),
        (2.0, "2"),
        (Fraction(10**21), "1e21"),
    ],
)
def test_numbers(number, text):
    assert figures.format_number(number) == text


@pytest.mark.parametrize(
    "number, digits, text",
    [
        (Fraction(1500), 9, "1,500"),
        (Fraction(63_751, 2), 9, "31,875.5"),
        (Fraction(-4096), 6, "-4,096"),
        (Fraction(2, 3), 4, "0.6667"),
        (Fraction(10**21), 6, "1e21"),
    ],
)
def test_numbers_with_separators(number, digits, text):
    assert figures.format_grouped(number, digits) == text


@pytest.mark.parametrize(
    "number, text",
    [(Fraction(2), "2"), (Fraction(33, 2), "16.5"), (Fraction(1, 8), "0.12"), (Fraction(12_345_678, 10), "1,234,567.8")],
)
def test_decimals(number, text):
    assert figures.format_decimal(number) == text


@pytest.mark.parametrize(
    "seconds, text",
    [
        (Fraction(1, 4), "0.25 s"),
        (Fraction(599, 10), "59.9 s"),
        (Fraction(60), "1 min"),
        (Fraction(90), "1 min 30 s"),
        (Fraction(3599), "59 min 59 s"),
        (Fraction(3600), "1 h"),
        (Fraction(5025), "1 h 24 min"),
        (Fraction(86_399), "24 h"),
        (Fraction(86_400 * 3472 + 5 * 3600), "3,472 d 5 h"),
    ],
)
def test_durations(seconds, text):
    assert figures.format_duration(seconds) == text


@pytest.mark.parametrize(
    "formula, written",
    [
        (tex.count(1_048_576), "1{,}048{,}576"),
        (tex.number(Fraction(2, 100_000)), r"2 \cdot 10^{-5}"),
        (tex.equals_number(Fraction(1, 4)), "= 0.25"),
        (tex.equals_number(Fraction(1, 3)), r"\approx 0.333333"),
        (tex.size(500_000_000, "GB"), r"0.5\,\text{GB}"),
        (tex.equals_size(2_000_000_000, "decimal"), r"= 2\,\text{GB}"),
        (tex.equals_size(1_234_567, "decimal"), r"\approx 1.23\,\text{MB}"),
        (tex.equals_size(1_234_567, "binary"), r"\approx 1.18\,\text{MiB}"),
    ],
)
def test_tex_says_equal_only_of_exact_figures(formula, written):
    assert formula == written
