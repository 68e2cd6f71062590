"""The one error of this package: what was entered, where, and which rule it breaks."""

from __future__ import annotations

_MOST_BITS = 10_000


class InputError(ValueError):
    """A value that cannot be used, named by its field.

    ``code`` is the stable name of the fault; ``rule`` picks its wording among the messages ``error.<code>.<rule>`` and
    ``hint.<rule>``; ``details`` fill their placeholders: ``value`` is what was entered, ``found`` and ``nearest`` also travel
    to the caller as they are. The error carries no sentence of its own: the words belong to ``messages``, in the reader's
    language.

    >>> str(InputError("micro_batch", "not_positive", "count", value=0))
    'micro_batch: not_positive (count): 0'
    """

    def __init__(self, field: str, code: str, rule: str, **details: object) -> None:
        value = details.get("value")
        # Python refuses to print an integer of more than 4,300 digits.
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            value = details["value"] = "…"
        super().__init__(f"{field}: {code} ({rule}): {value!r}")
        self.field = field
        self.code = code
        self.rule = rule
        self.details = details
