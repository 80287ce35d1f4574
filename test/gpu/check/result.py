"""The result: JSON for comparing, text for people, both whole at any moment.  docs/howto/check-a-gpu.md has the schema in words."""

import json
import os

from stats import median, spread

SCHEMA = 1
TOP = {
    "schema": int,
    "label": str,
    "simulated": bool,
    "quick": bool,
    "date": str,
    "finished": bool,
    "seconds": (int, float),
    "budget": (int, float),
    "machine": dict,
    "totals": dict,
    "steps": list,
}
STEP = {"name": str, "title": str, "status": str, "why": str, "seconds": (int, float), "checks": list, "figures": list}
CHECK = {"what": str, "verdict": str, "expected": str, "got": str}
FIGURE = {
    "what": str,
    "how": str,
    "unit": str,
    "values": list,
    "median": (int, float),
    "spread": (int, float, type(None)),
    "ratio": (int, float, type(None)),
}
STATUSES = ("not run", "running", "passed", "failed", "skipped", "cut off", "broken")
VERDICTS = ("PASS", "FAIL", "VALUE", "SKIP")


def faults(result):
    """Where a result does not keep to the schema: sentences, none when it does."""
    found = []

    def shape(thing, fields, where):
        for name, kind in fields.items():
            if name not in thing:
                found.append(f"{where}: no '{name}'")
            elif not isinstance(thing[name], kind):
                found.append(f"{where}: '{name}' is a {type(thing[name]).__name__}")
        found.extend(f"{where}: '{name}' is not in the schema" for name in thing if name not in fields)

    shape(result, TOP, "result")
    if result.get("schema") != SCHEMA:
        found.append(f"result: schema {result.get('schema')}, this is {SCHEMA}")
    for step in result.get("steps", []):
        shape(step, STEP, f"step {step.get('name')}")
        if step.get("status") not in STATUSES:
            found.append(f"step {step.get('name')}: status '{step.get('status')}'")
        for check in step.get("checks", []):
            shape(check, CHECK, f"check {check.get('what')}")
            if check.get("verdict") not in VERDICTS:
                found.append(f"check {check.get('what')}: verdict '{check.get('verdict')}'")
        for figure in step.get("figures", []):
            shape(figure, FIGURE, f"figure {figure.get('what')}")
    return found


def totals(steps):
    """How many checks of each verdict; a step that was cut off, or broke, is a failure of its own."""
    verdicts = [check["verdict"] for step in steps for check in step["checks"]]
    return {
        "passed": verdicts.count("PASS"),
        "failed": verdicts.count("FAIL") + sum(s["status"] in ("cut off", "broken") for s in steps),
        "values": verdicts.count("VALUE"),
        "skipped": verdicts.count("SKIP") + sum(s["status"] in ("skipped", "not run") for s in steps),
    }


POINT = "point-"


def point_verdict(step):
    """Of one of the points A to P: PASS, FAIL, or why it cannot be asked."""
    verdicts = [c["verdict"] for c in step["checks"]]
    if step["status"] in ("cut off", "broken") or "FAIL" in verdicts:
        return "FAIL"
    if "PASS" in verdicts:
        return "PASS"
    reasons = [step["why"]] + [c["got"] for c in step["checks"] if c["verdict"] == "SKIP"] + ["nothing was checked"]
    return "cannot be asked here: " + next(reason for reason in reasons if reason)


def join(parts):
    """One result of several, each with some of the steps; of a step run twice the later one counts.  The machine is the last one's."""
    parts = sorted(parts, key=lambda r: r["date"])
    for part in parts[1:]:
        for key in ("label", "schema"):
            if part[key] != parts[0][key]:
                raise ValueError(f"results of different {key}s: {parts[0][key]} and {part[key]}")
        if part["machine"].get("commit") != parts[0]["machine"].get("commit"):
            raise ValueError("results of different commits")
    out = dict(parts[-1])
    steps = {}
    for part in parts:
        for step in part["steps"]:
            if step["name"] not in steps or step["status"] not in ("not run", "skipped"):
                steps[step["name"]] = step
    out["steps"] = list(steps.values())
    out["seconds"] = round(sum(part["seconds"] for part in parts), 1)
    out["finished"] = all(part["finished"] for part in parts)
    out["totals"] = totals(out["steps"])
    return out


def write_whole(path, text):
    """A reader finds the old text or the new one, never half of one."""
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


def make_figure(what, how, unit, values, base=None):
    middle = median(values)
    return {
        "what": what,
        "how": how,
        "unit": unit,
        "values": [round(v, 3) for v in values],
        "median": round(middle, 3),
        "spread": None if spread(values) is None else round(spread(values), 4),
        "ratio": round(middle / base, 4) if base else None,
    }


def _number(value):
    return f"{value:,.0f}" if abs(value) >= 10000 else f"{value:,.4g}"


def _table(head, rows):
    cells = [[str(c).replace("|", "/") for c in row] for row in [head] + rows]
    widths = [min(max(len(row[i]) for row in cells), 70) for i in range(len(head))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in cells]
    return lines[:1] + ["| " + " | ".join("-" * w for w in widths) + " |"] + lines[1:]


def _step_text(step):
    lines = [
        "",
        f"## {step['name']}: {step['title']}",
        "",
        f"{step['status']}, {step['seconds']:.1f} s" + (f": {step['why']}" if step["why"] else ""),
    ]
    if step["figures"]:
        rows = [
            [
                f["what"],
                f["how"],
                f"{_number(f['median'])} {f['unit']}",
                "" if f["ratio"] is None else f"{f['ratio']:.2f}",
                "" if f["spread"] is None else f"{f['spread'] * 100:.0f} %",
                len(f["values"]),
            ]
            for f in step["figures"]
        ]
        lines += [""] + _table(["what", "how", "median", "of bare", "spread", "runs"], rows)
    if step["checks"]:
        rows = [[c["verdict"], c["what"], c["expected"], c["got"]] for c in step["checks"]]
        lines += [""] + _table(["", "what", "expected", "got"], rows)
    return lines


def text(result):
    """For a person, in Markdown: the verdict first."""
    t = result["totals"]
    lines = [f"# {result['label']}, {result['date'][:10]}", ""]
    if result["simulated"]:
        lines += ["**On the simulated GPU**: this proves the script and says nothing about a real one.", ""]
    lines += [f"- {name}: {value}" for name, value in result["machine"].items()]
    lines += [
        "",
        f"{t['passed']} passed, {t['failed']} failed, {t['values']} values, {t['skipped']} skipped; {result['seconds']:.0f} s"
        + ("" if result["finished"] else "; **not finished: this is what there is so far**")
        + ("; quick" if result["quick"] else ""),
    ]
    points = [
        [step["name"][len(POINT) :], step["title"], point_verdict(step)]
        for step in sorted(result["steps"], key=lambda s: s["name"])
        if step["name"].startswith(POINT)
    ]
    lines += [""] + _table(["point", "question", "answer"], points) if points else []
    bad = [
        f"- {step['name']}: {c['what']}: expected {c['expected']}, got {c['got']}"
        for step in result["steps"]
        for c in step["checks"]
        if c["verdict"] == "FAIL"
    ]
    bad += [
        f"- {step['name']}: {step['status']}: {step['why']}"
        for step in result["steps"]
        if step["status"] in ("cut off", "broken")
    ]
    left = [
        f"- {step['name']}: {step['status']}: {step['why']}"
        for step in result["steps"]
        if step["status"] in ("skipped", "not run")
    ]
    lines += ["", "**Failed:**", ""] + bad if bad else ["", "Nothing failed."]
    lines += ["", "Not here:", ""] + left if left else []
    for step in result["steps"]:
        if step["status"] not in ("skipped", "not run"):
            lines += _step_text(step)
    return "\n".join(lines) + "\n"


def save(result, folder, name):
    os.makedirs(folder, exist_ok=True)
    write_whole(os.path.join(folder, "latest.json"), json.dumps(result, indent=1) + "\n")
    write_whole(os.path.join(folder, name), text(result))
