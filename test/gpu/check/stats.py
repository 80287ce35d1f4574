"""Medians, spreads, and what changed between two results."""


def median(values):
    """The middle value; of an even number the mean of the two.  None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread(values):
    """(largest - smallest) / median: what one more run may differ by.  None of fewer than two, or where the median is 0."""
    middle = median(values)
    if len(values) < 2 or not middle:
        return None
    return (max(values) - min(values)) / abs(middle)


def overlap(a, b):
    """Whether the ranges of two sets of runs touch: then they cannot be told apart by so few runs."""
    return bool(a) and bool(b) and min(a) <= max(b) and min(b) <= max(a)


def _index(result, part):
    return {
        (step["name"],) + tuple(item[key] for key in (("what",) if part == "checks" else ("what", "how"))): item
        for step in result.get("steps", [])
        for item in step.get(part, [])
    }


def compare(old, new, threshold=1.10):
    """What differs: verdicts, expected or found values of checks, and figures whose median moved by more than the threshold while the
    runs do not overlap.  A list of sentences, worst first; things of only one of the two are said once, at the end."""
    worse, other, better, alone = [], [], [], []
    a, b = _index(old, "checks"), _index(new, "checks")
    for key in b:
        if key not in a:
            continue
        was, now, name = a[key], b[key], ": ".join(key)
        if was["verdict"] != now["verdict"]:
            text = f"{name}: was {was['verdict']}, is {now['verdict']} (expected {now['expected']}, got {now['got']})"
            (worse if now["verdict"] == "FAIL" else better if was["verdict"] == "FAIL" else other).append(text)
        elif was["got"] != now["got"] and now["verdict"] != "VALUE":
            other.append(f"{name}: was {was['got']}, is {now['got']}")
    a, b = _index(old, "figures"), _index(new, "figures")
    for key in b:
        if key not in a or not a[key]["median"] or not b[key]["median"]:
            continue
        was, now = a[key], b[key]
        ratio = now["median"] / was["median"]
        if 1 / threshold < ratio < threshold or overlap(was["values"], now["values"]):
            continue
        text = f"{': '.join(key)}: was {was['median']:g} {was['unit']}, is {now['median']:g} ({ratio:.2f} times)"
        (worse if ratio > 1 else better).append(text)
    for part in ("checks", "figures"):
        a, b = _index(old, part), _index(new, part)
        if set(a) - set(b):
            alone.append(f"{len(set(a) - set(b))} {part} only in the old result")
        if set(b) - set(a):
            alone.append(f"{len(set(b) - set(a))} {part} only in the new result")
    return [f"worse: {t}" for t in worse] + [f"changed: {t}" for t in other] + [f"better: {t}" for t in better] + alone
