"""t(a) = c + r/a: a micro-batch, and its share of one reduction."""


def split_cost(seconds):
    """Return c and r from {accumulation steps: seconds}, two of them."""
    (few, slow), (many, fast) = sorted(seconds.items())
    reduction = (slow - fast) / (1 / few - 1 / many)
    return slow - reduction / few, reduction


def predicted(seconds, steps):
    """Return the seconds per micro-batch at another number of steps."""
    compute, reduction = split_cost(seconds)
    return compute + reduction / steps


def gain(seconds, steps):
    """Return how many times faster than reducing with every micro-batch."""
    return predicted(seconds, 1) / predicted(seconds, steps)


def limit(seconds):
    """Return the gain that no number of steps exceeds."""
    compute, _ = split_cost(seconds)
    return predicted(seconds, 1) / compute
