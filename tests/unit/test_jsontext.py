from decimal import Decimal
from fractions import Fraction

import pytest

from gradaccum import jsontext


@pytest.mark.parametrize(
    "text, value",
    [
        ("{}", {}),
        ('{"ratio": 0.1}', {"ratio": Decimal("0.1")}),
        ('"]]]]"', "]]]]"),
        ('"a \\" [ b"', 'a " [ b'),
        ("[" * 31 + "]" * 31, None),
    ],
)
def test_texts_that_are_read(text, value):
    read = jsontext.loads(text)
    assert value is None or read == value


@pytest.mark.parametrize(
    "text, rule",
    [
        ("", "syntax"),
        ("{", "syntax"),
        ('{"a": 1,}', "syntax"),
        ('"open', "syntax"),
        (None, "syntax"),
        (b"{}", "syntax"),
        (" " * 1_000_001, "too_long"),
        ("[" * 33, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
        ('{"a": 1, "a": 2}', "duplicate"),
        ('[{"a": 1, "a": 2}]', "duplicate"),
    ],
    ids=range(11),
)
def test_texts_that_are_refused(text, rule):
    with pytest.raises(jsontext.MalformedError) as refused:
        jsontext.loads(text)
    assert refused.value.rule == rule


def test_an_integer_python_would_not_read_stays_huge():
    assert jsontext.loads("9" * 10_000) > 10**999
    assert jsontext.loads("-" + "9" * 10_000) < -(10**900)


@pytest.mark.parametrize(
    "text, sign",
    [
        ("1e999999999", 1),
        ("1e-999999999", -1),
        ("1E+9999999999999999999999", 1),
        ("1e-9999999999999999999999", -1),
        ("1e-00099", -1),
        ("12.5", 0),
    ],
)
def test_far_exponents_are_read_alike_everywhere(text, sign):
    read = jsontext.loads(text)
    assert (read.adjusted() > 90) - (read.adjusted() < -90) == sign


def test_exact_numbers_are_written_as_the_nearest_double_or_integer():
    assert jsontext.dumps([Fraction(3, 4), Fraction(4, 2), Decimal("0.1")]) == "[0.75, 2, 0.1]"


def test_half_a_surrogate_pair_can_be_written():
    assert jsontext.dumps(jsontext.loads(r'"\ud800"')).encode("utf-8")


def test_what_has_no_json_is_no_silent_text():
    with pytest.raises(TypeError):
        jsontext.dumps(object())
