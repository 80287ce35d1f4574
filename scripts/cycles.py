#!/usr/bin/env python3
"""Prints dependency cycles, from the symbols that each object defines and uses (nm), not from includes.

cycles.py [BUILD] [--uses FROM TO]

Output: cycles between folders, with the files that cause them; cycles inside a folder; and totals.  Only reports: the exit status is 0.
--uses prints the symbols that the files of folder FROM use from folder TO.  Not uses: a call through a function pointer, and a call of a
function that the injected object exports (the interposed functions of libc: the caller wants libc's).
"""
import collections
import os
import subprocess
import sys

# One program at a time: another program may define a function of the same name.  trace/ is in each.
PROGRAMS = (("inject", "pic", ("inject", "trace")), ("collector", "obj", ("collector", "trace")), ("cli", "obj", ("cli", "trace")))


def objects(build, kind, folders):
    """Objects whose source exists: the build folder may have older ones."""
    for folder in folders:
        for where, _, names in sorted(os.walk(os.path.join(build, kind, folder))):
            for name in sorted(names):
                path = os.path.join(where, name)
                source = os.path.relpath(path, os.path.join(build, kind))[:-2] + ".c"
                if name.endswith(".o") and os.path.exists(source):
                    yield path, source


def exported():
    with open("inject/process/exports.txt", encoding="utf-8") as lines:
        return {line.split()[0] for line in lines if line.strip() and line[0] != "#"}


def symbols(paths):
    """({source: [defined]}, {source: [undefined]})"""
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    text = subprocess.run(["nm", "-A", "-P", "-g", *paths], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in text.splitlines():
        words = line.split()
        source = paths[words[0].rstrip(":")]
        (used if words[2] in "Uvw" else defined)[source].add(words[1])
    return defined, used


def components(nodes, edges):
    """Strongly connected components of more than one node (Tarjan, without recursion)."""
    index, low, stack, on, out = {}, {}, [], set(), []
    for root in sorted(nodes):
        work = [(root, None)] if root not in index else []
        while work:
            node, rest = work.pop()
            if rest is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on.add(node)
                rest = iter(sorted(edges[node]))
            for other in rest:
                if other not in index:
                    work += [(node, rest), (other, None)]
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    on.difference_update(found)
                    if len(found) > 1:
                        out.append(sorted(found))
    return out


def graph(build, kind, folders):
    """{source: {source: {symbols}}}"""
    defined, used = symbols(dict(objects(build, kind, folders)))
    no_uses = exported() if kind == "pic" else set()
    home = {symbol: source for source, names in defined.items() for symbol in names - no_uses}
    uses = collections.defaultdict(lambda: collections.defaultdict(set))
    for source, names in used.items():
        for symbol in names:
            if home.get(symbol, source) != source:
                uses[source][home[symbol]].add(symbol)
    return set(defined) | set(used), uses


def between(uses):
    """{folder: {folder: [(user, definer, symbols)]}}"""
    out = collections.defaultdict(lambda: collections.defaultdict(list))
    for source, others in uses.items():
        for other, names in others.items():
            a, b = os.path.dirname(source), os.path.dirname(other)
            if a != b:
                out[a][b].append((source, other, sorted(names)))
    return out


def report(program, files, uses):
    folders = between(uses)
    wide = components(set(map(os.path.dirname, files)), folders)
    print("%s: %d files" % (program, len(files)))
    for folder in wide:
        print("  cycle between %d folders: %s" % (len(folder), " ".join(folder)))
        for a in folder:
            for b in folder:
                if folders[a][b] and folders[b][a]:
                    print("    %s -> %s: %s" % (a, b, pairs(folders[a][b])))
    over = components(files, uses)
    for found in over:
        if len(set(map(os.path.dirname, found))) > 1:
            print("  cycle of %d files across folders: %s" % (len(found), " ".join(found)))
    inside = []
    for folder in sorted(set(map(os.path.dirname, files))):
        here = {f for f in files if os.path.dirname(f) == folder}
        found = components(here, {f: {o for o in uses[f] if o in here} for f in here})
        for cycle in found:
            print("  cycle of %d files in %s: %s" % (len(cycle), folder, " ".join(map(os.path.basename, cycle))))
        inside += found
    print("  total: %d cycles between folders (of %s folders), %d inside folders, %d of them larger than three files" %
          (len(wide), "+".join(str(len(w)) for w in wide) or "0", len(inside), sum(len(c) > 3 for c in inside)))


def pairs(list_of_uses, most=4):
    texts = sorted("%s uses %s of %s" % (os.path.basename(a), names[0] + ("" if len(names) == 1 else " and %d more" % (len(names) - 1)),
                                         os.path.basename(b)) for a, b, names in list_of_uses)
    return "; ".join(texts[:most]) + ("" if len(texts) <= most else "; %d more" % (len(texts) - most))


def main():
    words = sys.argv[1:]
    shown = words[words.index("--uses") + 1:][:2] if "--uses" in words else None
    rest = words[:words.index("--uses")] if shown else words
    build = os.path.abspath(rest[0] if rest else "build")
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    for program, kind, folders in PROGRAMS:
        files, uses = graph(build, kind, folders)
        if not files:
            sys.exit("cycles.py: %s has no objects of %s: run 'make'" % (build, program))
        if not shown:
            report(program, files, uses)
            continue
        for a, b, names in sorted(between(uses)[shown[0]][shown[1]]):
            print("%s uses %s of %s" % (a, ", ".join(names), b))


main()
