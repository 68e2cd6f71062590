"""Requests of every kind, right, nearly right and hostile, out of one source of chance.

The source is a ``random.Random``: one with a seed for parity, Hypothesis's own for its search, and one that reads the bytes
of a coverage-guided fuzzer.
"""

import json
import math
from collections.abc import Callable
from random import Random
from typing import Any

from gradaccum.accumulation import PARALLEL_DEGREES, SPLIT
from gradaccum.calculators import CALCULATORS, FORMS, Calculator, Field
from gradaccum.catalogue import gpus, models
from gradaccum.families import FAMILIES

INVISIBLE = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u200b\u200c\u200d\u00ad\u2060\u061c"
DIGITS = ("0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "０１２３４５６７８９", "०१२३४५६७८९", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗")
# Cyrillic and Greek letters that look Latin, compatibility signs, ligatures, and what case folding changes.
UNITS = ("GB", "GiB", "MB", "KiB", "B", "gb", "GIB", "Gb", "gІB", "GіB", "ΜB", "МB", "㎇", "ﬀ", "غيغابايت", "جيجا بايت", "ſB")
SEPARATORS = ("", ",", "٬", "_", "،", "'", " ", "\u00a0", "\u202f", ".", "٫")
EXTREMES = (0, -1, 1, 2, 3, 7, 2**31, 2**53 + 1, 2**63, 2**64, 10**18, 10**18 + 1, 10**30, 10**400, -(10**400))
FLOATS = (
    "0.1",
    "1e-30",
    "1e-31",
    "1e30",
    "1e31",
    "1e308",
    "1e309",
    "-0.0",
    "5e-324",
    "1e-400",
    "1e999999999",
    "NaN",
    "-Infinity",
)
CONFIG_SIZES = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 100,
}
CONFIG_KEYS = (
    *("hidden_size", "n_embd", "num_hidden_layers", "n_layer", "num_attention_heads", "n_head", "num_key_value_heads"),
    *("head_dim", "intermediate_size", "n_inner", "vocab_size", "tie_word_embeddings", "attention_bias", "mlp_bias"),
    *(
        "max_position_embeddings",
        "n_positions",
        "sliding_window",
        "use_sliding_window",
        "layer_types",
        "sliding_window_pattern",
    ),
    *("num_local_experts", "num_experts", "num_experts_per_tok", "moe_intermediate_size", "norm_topk_prob"),
    *("attn_logit_softcapping", "final_logit_softcapping", "hidden_act", "hidden_activation", "activation_function"),
    *("partial_rotary_factor", "rope_parameters", "rope_scaling", "rotary_pct", "use_parallel_residual", "type_vocab_size"),
    *("image_size", "patch_size", "num_channels", "num_labels", "id2label", "model_type", "text_config", "torch_dtype"),
)
HOSTILE_TEXT = (
    *("", " ", "null", "[]", "{}", "<script>alert(1)</script>", "{0}", "{field}", "%s", "$(id)", "a" * 5000, "\x00", "\ud800"),
    *("٣٢", "٠٫٥ GB", "1,5 GB", "1__0", "0x10", "١٬٠٢٤", "--help", "../..", "اسم", "\u202e46", "1e5", "∞", "½", "²", "Ⅷ"),
)


class Raw(str):
    """A piece of JSON that stands in the text as it is: numbers that Python would write otherwise, or not at all."""

    __slots__ = ()


def request(random: Random) -> str:
    """The text of one request; three in four are JSON as it should be."""
    text = written(document(random), random)
    return spoilt(text, random) if random.random() < 0.1 else text


def document(random: Random) -> dict[str, Any]:
    """A request before it is written: a calculator, its fields, and sometimes what does not belong there."""
    if random.random() < 0.05:
        return {"calculator": value(random, 3), "inputs": value(random, 3), "language": value(random, 2)}
    calculator = random.choice(list(CALCULATORS))
    form = random.choice([form for form in FORMS.values() if form.name == calculator])
    language = random.choice(("en", "ar"))
    found = {"calculator": form.name, "inputs": inputs(form, random), "language": language, "view": random.random() < 0.5}
    if random.random() < 0.03:
        found[random.choice(("calculator", "inputs", "language", "view", "more", *CALCULATORS))] = value(random, 3)
    return found


def inputs(form: Calculator, random: Random) -> dict[str, Any]:
    """The fields of one form. How many of them are hostile is drawn first, so that many requests are answered."""
    hostile = random.choice((0.0, 0.0, 0.0, 0.1, 0.5))
    question = form.fields[: bool(form.topic)]
    found: dict[str, Any] = {field.name: form.topic for field in question}
    lean = random.random() < 0.5
    for field in form.fields[len(question) :]:
        if field.required or random.random() < (0.35 if lean else 0.75):
            found[field.name] = value(random, 3) if random.random() < hostile else fitting(field, random)
    if random.random() < 0.9:
        agree(found, random)
    if random.random() < hostile:
        found[random.choice(("micro_batch", "modle", "é", "", *CONFIG_KEYS))] = value(random, 2)
    return found


def agree(found: dict[str, Any], random: Random) -> None:
    """Make of fields that contradict one another, or lack something, what can be answered."""
    if "model" in found and "config" in found:
        del found[random.choice(("model", "config"))]
    if not {"model", "config"} & set(found) and "rank" in found:
        found["model"] = random.choice(tuple(models()))
    if "most_plans" in found or "fixed_memory" in found:
        found.setdefault("sequence_length", random.randint(1, 8192))
        found.setdefault("gpu", random.choice(tuple(gpus())))
    degrees = [found[name] for name in PARALLEL_DEGREES if name in found]
    if "world_size" in found and all(type(degree) is int for degree in degrees):
        found["world_size"] = math.prod(degrees) * random.randint(1, 8)
        found.pop("replicas", None)
    given = [name for name in SPLIT if name in found]
    if "framework" in found or given == list(SPLIT):
        given = random.sample(SPLIT[1:], random.choice((2, 3)))
        found |= {name: random.randint(1, 4096) for name in given}
        found["effective_batch"] = math.prod(found[name] for name in given) * random.choice((1, 1, 1, random.randint(1, 64)))
        for name in set(SPLIT[1:]) - set(given):
            found.pop(name, None)


def fitting(field: Field, random: Random) -> Any:
    """A value of the field's kind, in range more often than not."""
    if field.kind in ("choice", "choices", "names") and field.choices:
        several = [random.choice(field.choices) for _ in range(random.randint(1, 3))]
        if random.random() < 0.1:
            return random.choice((several, several[0].upper(), f"\u200f{several[0]} ", ", ".join(several)))
        return "any" if field.searched and random.random() < 0.2 else several[0]
    return FITTING[field.kind](field, random)


def _count(field: Field, random: Random) -> Any:
    if field.most is not None and field.least is not None:
        return random.randint(int(field.least), int(field.most) + (random.random() < 0.02))
    number = random.choice(
        (random.randint(1, 16), random.randint(1, 64) * 2 ** random.randint(0, 12), random.randint(1, 10**18))
    )
    number = number if random.random() < 0.3 else random.randint(1, 4096)
    return digits(number, random) if random.random() < 0.2 else number


def _size(_: Field, random: Random) -> Any:
    if random.random() < 0.2:
        return random.randint(1, 10 ** random.randint(1, 18))
    amount = digits(random.randint(1, 999), random) + random.choice(("", "", ".5", "٫25"))
    return f"{amount}{random.choice(('', ' '))}{random.choice(UNITS if random.random() < 0.1 else UNITS[:4])}"


def _number(field: Field, random: Random) -> Any:
    least, most = field.least, field.most
    if least is not None and most is not None:
        return float(least) + (float(most) - float(least)) * random.choice((0.0, 1.0, random.random(), random.random() ** 4))
    exact = random.choice(
        ("3e-4", "0.9", "0.999", "1", "٠٫١", str(random.random()), f"{random.randint(1, 99)}e{random.randint(-28, 28)}")
    )
    return random.choice((exact, random.random(), Raw("1e-5"), random.randint(1, 10**6)))


def _table(field: Field, random: Random) -> Any:
    width = random.randint(1, 6)
    least, most = int(field.least or (0 if field.kind == "counts" else -1000)), int(field.most or 10**6)

    def cell() -> Any:
        if random.random() < 0.05:
            return None
        return random.randint(least, most) if field.kind == "counts" else random.uniform(least, most)

    rows = [[cell() for _ in range(width)] for _ in range(random.randint(1, 5))]
    if random.random() < 0.2:
        return random.choice(("; ", "\n", "؛")).join(" ".join("-" if c is None else str(c) for c in row) for row in rows)
    return rows


def config(_field: Field, random: Random) -> Any:
    """A ``config.json``: of the catalogue or of a small model, with up to three keys spoilt, sometimes as text."""
    if random.random() < 0.3:
        found: dict[str, Any] = dict(random.choice(list(models().values()))["config"])
    else:
        found = CONFIG_SIZES | {"model_type": random.choice(tuple(FAMILIES))}
    for _ in range(random.choice((0, 0, 1, 2, 3))):
        found[random.choice(CONFIG_KEYS)] = random.choice(
            (random.randint(1, 16), random.choice(EXTREMES), 10**9, 9999, True, "12", [8], None, value(random, 2))
        )
    return json.dumps(found, default=str) if random.random() < 0.1 else found


FITTING: dict[str, Callable[[Field, Random], Any]] = {
    "count": _count,
    "size": _size,
    "number": _number,
    "flag": lambda _, random: random.choice((True, False, "true", "FALSE")),
    "object": config,
    "names": lambda _, random: random.choice(("q_proj v_proj", ["q_proj"], "all-linear")),
    "choice": lambda _, random: random.choice((*gpus(), *models())),
    "choices": lambda _, random: random.choice(("any", "none")),
    "text": lambda _, random: random.choice(HOSTILE_TEXT),
    "counts": _table,
    "numbers": _table,
}


def digits(number: int, random: Random) -> str:
    """A count as somebody may have pasted it: digits of other scripts, separators, marks nobody sees."""
    text = f"{number:,}" if random.random() < 0.5 else str(number)
    text = text.replace(",", random.choice(SEPARATORS)) if random.random() < 0.3 else text
    shapes = random.choice(DIGITS[:3]) if random.random() < 0.7 else random.choice(DIGITS)
    mixed = random.random() < 0.1
    text = "".join((random.choice(DIGITS) if mixed else shapes)[int(c)] if c in DIGITS[0] else c for c in text)
    return random.choice(INVISIBLE) + text + random.choice(INVISIBLE) if random.random() < 0.2 else text


def value(random: Random, depth: int) -> Any:
    """Anything JSON can say, and a little of what it cannot."""
    kind = random.randint(0, 9 if depth else 6)
    if kind == 7:
        return [value(random, depth - 1) for _ in range(random.randint(0, 4))]
    if kind == 8:
        return {random.choice((*CONFIG_KEYS, *HOSTILE_TEXT[:8])): value(random, depth - 1) for _ in range(random.randint(0, 3))}
    if kind == 9:
        return nested(random.choice((5, 31, 33, 300)), random)
    scalars: tuple[Callable[[], Any], ...] = (
        lambda: random.choice(EXTREMES),
        lambda: Raw(random.choice(FLOATS)),
        lambda: random.choice((True, False, None)),
        lambda: random.choice(HOSTILE_TEXT),
        lambda: digits(random.choice(EXTREMES[:12]), random) + " " + random.choice(UNITS),
        lambda: random.randint(-(10**6), 10**20),
        lambda: random.random() * 10 ** random.randint(-20, 20),
    )
    return scalars[kind]()


def nested(depth: int, random: Random) -> Any:
    """Lists or objects within one another."""
    found: Any = 1
    as_list = random.random() < 0.5
    for _ in range(depth):
        found = [found] if as_list else {"a": found}
    return found


def written(whole: Any, random: Random) -> str:
    """JSON text in which a ``Raw`` stands as it is."""
    raws: list[str] = []

    def marked(part: Any) -> Any:
        if isinstance(part, Raw):
            raws.append(str(part))
            return f"\ue000{len(raws) - 1}\ue001"
        if isinstance(part, dict):
            return {key: marked(inner) for key, inner in part.items()}
        return [marked(inner) for inner in part] if isinstance(part, list) else part

    text = json.dumps(marked(whole), ensure_ascii=random.random() < 0.5)
    for place, raw in enumerate(raws):
        text = text.replace(f'"\ue000{place}\ue001"', raw).replace(f'"\\ue000{place}\\ue001"', raw)
    return text


def spoilt(text: str, random: Random) -> str:
    """Text that is no longer the JSON it was."""
    place = random.randrange(len(text) + 1)
    other = random.choice(
        ('"', "{", "}", "[", ",", ":", "\\", "\x00", "\u202e", "NaN", "0", "٣", "\ufeff", "//", "'", "\ud800")
    )
    ways: tuple[Callable[[], str], ...] = (
        lambda: text[:place],
        lambda: text[:place] + other + text[place:],
        lambda: text[:place] + text[place + 1 :],
        lambda: text.replace("{", '{"micro_batch": 1, "micro_batch": 2, ', 1),
        lambda: text + text,
        lambda: "[" * 10 ** random.randint(1, 5) + text,
        lambda: text.replace(":", ": " + " " * 10 ** random.randint(1, 5), 1),
        lambda: json.dumps({"calculator": "plan", "inputs": {"config": "x" * 10 ** random.randint(3, 6)}}),
        lambda: '{"calculator": "accumulation", "inputs": {"micro_batch": ' + "9" * 10 ** random.randint(1, 6) + "}}",
        lambda: json.dumps({"calculator": "loss_weights", "inputs": {"tokens": "1 " * 10 ** random.randint(1, 5)}}),
        lambda: json.dumps(
            {"calculator": "accumulation", "inputs": {f"f{i}" * 9: i for i in range(10 ** random.randint(0, 3))}}
        ),
        lambda: json.dumps({"calculator": "lora", "inputs": {"rank": 1, "targets": ["t" * 9] * 10 ** random.randint(0, 4)}}),
    )
    return random.choice(ways)()
