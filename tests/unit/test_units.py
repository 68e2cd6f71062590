from decimal import Decimal
from fractions import Fraction

import pytest

from gradaccum import units
from gradaccum.errors import InputError

COUNTS = [
    # entered, understood
    (1, 1),
    (10**18, 10**18),
    (2.0, 2),
    (Decimal("1E+6"), 1_000_000),
    (Decimal("9007199254740993.0"), 9_007_199_254_740_993),
    ("7", 7),
    ("  7 ", 7),
    ("+7", 7),
    ("7.0", 7),
    ("٣٢", 32),
    ("۳۲", 32),
    ("1,048,576", 1_048_576),
    ("١٬٠٢٤", 1_024),
    ("1_024", 1_024),
    ("1024", 1_024),
    ("\u206632\u2069", 32),
    ("\u200f٣٢", 32),
]


@pytest.mark.parametrize("entered, understood", COUNTS)
def test_counts_that_are_understood(entered, understood):
    assert units.read_count(entered, "micro_batch") == understood


REFUSED_COUNTS = [
    # entered, code
    (0, "not_positive"),
    (-3, "not_positive"),
    ("-3", "not_positive"),
    ("−3", "not_positive"),
    (-2.5, "not_positive"),
    (Decimal("-1E+999"), "not_positive"),
    (2.5, "wrong_type"),
    ("2.5", "wrong_type"),
    ("٢٫٥", "wrong_type"),
    (True, "wrong_type"),
    (False, "wrong_type"),
    (None, "wrong_type"),
    ([4], "wrong_type"),
    ({}, "wrong_type"),
    ("four", "wrong_type"),
    ("1,5", "wrong_type"),
    ("10,24", "wrong_type"),
    ("1,024_000", "wrong_type"),
    ("1 024", "wrong_type"),
    ("1e3", "wrong_type"),
    ("0x10", "wrong_type"),
    ("²", "wrong_type"),
    ("४", "wrong_type"),
    (".", "wrong_type"),
    ("--4", "wrong_type"),
    ("9" * 401, "too_large"),
    ("+" + "9" * 5000, "too_large"),
    ("-" + "9" * 5000, "not_positive"),
    ("0" * 400 + "1", "wrong_type"),
    (Decimal("1E-99999"), "wrong_type"),
    (float("nan"), "not_finite"),
    (float("inf"), "not_finite"),
    (float("-inf"), "not_finite"),
    (10**18 + 1, "too_large"),
    (10**400, "too_large"),
    (10**20000, "too_large"),
    (Decimal("1E+99999"), "too_large"),
]


@pytest.mark.parametrize("entered, code", REFUSED_COUNTS, ids=range(len(REFUSED_COUNTS)))
def test_counts_that_are_refused(entered, code):
    with pytest.raises(InputError) as refused:
        units.read_count(entered, "micro_batch")
    assert (refused.value.field, refused.value.code) == ("micro_batch", code)


def test_zero_is_a_count_where_none_of_a_thing_makes_sense():
    assert units.read_count(0, "tokens", minimum=0) == 0


SIZES = [
    # entered, bytes
    (24, 24),
    (24.0, 24),
    ("0.5 GB", 500_000_000),
    ("0.5 GiB", 536_870_912),
    ("24GiB", 25_769_803_776),
    ("24 gib", 25_769_803_776),
    ("24 GIB", 25_769_803_776),
    ("1 kB", 1_000),
    ("1 KB", 1_000),
    ("1 KiB", 1_024),
    ("1,536 MiB", 1_610_612_736),
    ("٠٫٥ GB", 500_000_000),
    ("٢٤ غيغابايت", 24_000_000_000),
    ("٢٤ جيجابايت", 24_000_000_000),
    ("1 PB", 10**15),
    ("3 B", 3),
    ("1\u00a0GB", 10**9),
]


@pytest.mark.parametrize("entered, size", SIZES)
def test_sizes_that_are_understood(entered, size):
    assert units.read_size(entered, "activation_per_sample") == size


REFUSED_SIZES = [
    # entered, code
    ("24", "unit_missing"),
    ("٢٤", "unit_missing"),
    ("1,5 GB", "wrong_type"),
    ("GB", "wrong_type"),
    ("", "wrong_type"),
    ("many GB", "wrong_type"),
    ("1 GB/s", "wrong_type"),
    ("1 2 GB", "wrong_type"),
    ("1" * 500 + " GB", "too_large"),
    ("-" + "1" * 500 + " GB", "not_positive"),
    ("0." + "1" * 500 + " GB", "wrong_type"),
    ("3 Gb", "unknown_value"),
    ("3 G", "unknown_value"),
    ("3 GiBs", "unknown_value"),
    ("3 ԌB", "unknown_value"),
    ("0 GB", "not_positive"),
    ("-1 GB", "not_positive"),
    (0, "not_positive"),
    (2.5, "wrong_type"),
    (True, "wrong_type"),
    (None, "wrong_type"),
    (float("nan"), "not_finite"),
    ("2000 PB", "too_large"),
    (10**18 + 1, "too_large"),
]


@pytest.mark.parametrize("entered, code", REFUSED_SIZES, ids=range(len(REFUSED_SIZES)))
def test_sizes_that_are_refused(entered, code):
    with pytest.raises(InputError) as refused:
        units.read_size(entered, "activation_per_sample")
    assert (refused.value.field, refused.value.code) == ("activation_per_sample", code)


def test_part_of_a_byte_is_rounded_up_for_a_need_and_down_for_a_budget():
    assert units.read_size("0.0000015 MB", "need") == 2
    assert units.read_size("0.0000015 MB", "budget", rounding="down") == 1
    assert units.read_size("0.1 B", "need") == 1
    with pytest.raises(InputError, match="not_positive"):
        units.read_size("0.1 B", "budget", rounding="down")


NUMBERS = [
    # entered, understood
    (0.1, Fraction(1, 10)),
    (Decimal("0.1"), Fraction(1, 10)),
    ("0.1", Fraction(1, 10)),
    (".5", Fraction(1, 2)),
    ("٠٫٥", Fraction(1, 2)),
    ("3e-4", Fraction(3, 10_000)),
    ("٣e-٤", Fraction(3, 10_000)),
    ("1,000.5", Fraction(2001, 2)),
    (3, Fraction(3)),
]


@pytest.mark.parametrize("entered, understood", NUMBERS)
def test_numbers_are_read_as_the_decimal_that_was_written(entered, understood):
    assert units.read_number(entered, "learning_rate") == understood


REFUSED_NUMBERS = [
    # entered, settings, code
    (0, {}, "not_positive"),
    (-1, {}, "not_positive"),
    (-1, {"allow_zero": True}, "not_positive"),
    ("1e-31", {}, "not_positive"),
    ("1e31", {}, "too_large"),
    (Decimal("-1E+40"), {"signed": True}, "too_large"),
    ("1e", {}, "wrong_type"),
    ("e5", {}, "wrong_type"),
    ("1e99999", {}, "wrong_type"),
    ("1e999", {}, "too_large"),
    ("1e-9999", {}, "wrong_type"),
    (float("inf"), {}, "not_finite"),
    (False, {}, "wrong_type"),
]


@pytest.mark.parametrize("entered, settings, code", REFUSED_NUMBERS)
def test_numbers_that_are_refused(entered, settings, code):
    with pytest.raises(InputError) as refused:
        units.read_number(entered, "learning_rate", **settings)
    assert refused.value.code == code


def test_zero_and_negative_numbers_where_they_are_allowed():
    assert units.read_number(0, "seconds", allow_zero=True) == 0
    assert units.read_number(-2, "loss", signed=True) == -2


@pytest.mark.parametrize(
    "entered, unit, system",
    [
        ("24 GiB", "GiB", "binary"),
        ("24 gib", "GiB", "binary"),
        ("٠٫٥ GB", "GB", "decimal"),
        ("٢٤ غيغابايت", "GB", "decimal"),
        ("24", "B", "decimal"),
        ("3 Gb", "B", "decimal"),
        (2304, "B", "decimal"),
    ],
)
def test_the_reader_s_own_unit_is_remembered(entered, unit, system):
    assert units.typed_unit(entered) == unit
    assert units.system_of(unit) == system


NAMED_REFUSALS = [
    # reader, entered, settings, code, rule of the wording, what else is said of the value
    (units.read_count, True, {}, "wrong_type", "count", {}),
    (units.read_count, "many", {}, "wrong_type", "count", {}),
    (units.read_count, "1.5", {}, "wrong_type", "count", {}),
    (units.read_count, "0." + "0" * 390 + "1", {}, "not_positive", "count", {}),
    (units.read_count, Decimal("1e-801"), {}, "wrong_type", "count", {}),
    (units.read_count, Decimal("1e401"), {}, "too_large", "count", {}),
    (units.read_count, Decimal("-1e401"), {}, "not_positive", "count", {}),
    (units.read_count, Decimal("Infinity"), {}, "not_finite", "count", {}),
    (units.read_count, 0, {}, "not_positive", "count", {}),
    (units.read_count, -1, {"minimum": 0}, "not_positive", "count_or_zero", {}),
    (units.read_count, 10**18 + 1, {}, "too_large", "count", {}),
    (units.read_size, None, {}, "wrong_type", "size", {}),
    (units.read_size, "GB", {}, "wrong_type", "size", {}),
    (units.read_size, "1 GB/s", {}, "wrong_type", "size", {}),
    (units.read_size, "24", {}, "unit_missing", "size", {}),
    (units.read_size, "3 Gb", {}, "unknown_value", "unit", {"unit": "Gb"}),
    (units.read_size, "1" * 390 + "." + "1" * 5 + " GB", {}, "too_large", "size", {}),
    (units.read_size, 2.5, {}, "wrong_type", "size_bytes", {}),
    (units.read_size, 0, {}, "not_positive", "size", {}),
    (units.read_size, "0.1 B", {"rounding": "down"}, "not_positive", "size", {}),
    (units.read_size, "2000 PB", {}, "too_large", "size", {}),
    (units.read_number, "3e", {}, "wrong_type", "number", {}),
    (units.read_number, [], {}, "wrong_type", "number", {}),
    (units.read_number, "1e999", {}, "too_large", "number", {}),
    (units.read_number, 0, {}, "not_positive", "number", {}),
    (units.read_number, -1, {"allow_zero": True}, "not_positive", "number_or_zero", {}),
    (units.read_number, "1e-31", {}, "not_positive", "number_too_small", {}),
    (units.read_number, "1e31", {}, "too_large", "number", {}),
]


@pytest.mark.parametrize("reader, entered, options, code, rule, more", NAMED_REFUSALS, ids=range(len(NAMED_REFUSALS)))
def test_a_refusal_names_field_rule_and_what_was_entered(reader, entered, options, code, rule, more):
    with pytest.raises(InputError) as refused:
        reader(entered, "some_field", **options)
    error = refused.value
    assert (error.field, error.code, error.rule) == ("some_field", code, rule)
    assert error.details == {"value": entered} | more


def test_bounds_are_allowed_themselves():
    assert units.read_number("1e-30", "rate") == Fraction(1, 10**30)
    assert units.read_number("1e30", "rate") == 10**30
    assert units.read_number(-1, "rate", signed=True) == -1
    assert units.read_count(10**18, "batch") == 10**18
    assert units.read_count(0, "batch", minimum=0) == 0
    assert units.read_size("1000 PB", "budget") == 10**18
    assert units.read_number("1" + "0" * 30, "rate") == 10**30
    assert units.read_number("0." + "1" * 398, "rate") < 1
    with pytest.raises(InputError, match="wrong_type"):
        units.read_number("0." + "1" * 399, "rate")


def test_the_longest_text_and_the_smallest_exponent_are_still_read():
    assert units.plain_text("24\u00a0GiB") == "24 GiB"
    assert units.read_size("0" * 397 + "1 B", "need") == 1
    with pytest.raises(InputError, match="not_positive"):
        units.read_count(Decimal("1e-800"), "batch")
