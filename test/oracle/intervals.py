"""Sets of moments as sorted lists of (start, end), ends excluded, no two of which overlap or touch.  All in integers."""


def union(spans):
    """Any (start, end) pairs; those without a length vanish."""
    out = []
    last_start = last_end = None
    for start, end in sorted(spans):
        if end <= start:
            continue
        if last_end is not None and start <= last_end:
            if end > last_end:
                last_end = end
        else:
            if last_end is not None:
                out.append((last_start, last_end))
            last_start, last_end = start, end
    if last_end is not None:
        out.append((last_start, last_end))
    return out


def length(sets):
    return sum(end - start for start, end in sets)


def intersect(a, b):
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        start = max(a[i][0], b[j][0])
        end = min(a[i][1], b[j][1])
        if start < end:
            out.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return out


def subtract(a, b):
    out = []
    j = 0
    for start, end in a:
        while j < len(b) and b[j][1] <= start:
            j += 1
        k = j
        while k < len(b) and b[k][0] < end:
            if b[k][0] > start:
                out.append((start, b[k][0]))
            start = max(start, b[k][1])
            k += 1
        if start < end:
            out.append((start, end))
    return out


def median(values):
    """The smallest value that is not below half of them: always one of them."""
    ordered = sorted(values)
    return ordered[(len(ordered) + 1) // 2 - 1]


def percentile(values, percent):
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[-(-percent * len(ordered) // 100) - 1]
