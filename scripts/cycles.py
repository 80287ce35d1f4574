#!/usr/bin/env python3
"""Prints dependency cycles, from the symbols that each object defines and uses (nm), not from includes.

cycles.py [BUILD] [--uses FROM TO | --fail TREE...]

Output: cycles between folders, with the files that cause them; cycles inside a folder; and totals.  The exit status is 0.
--uses prints the symbols that the files of folder FROM use from folder TO.
--fail prints only what is forbidden in these trees (cli, collector, trace): a cycle between folders, or of more than three files in one.
The exit status is 1 if there is any, 77 if it cannot be found out here.
Not uses: a call through a function pointer, and a call of a function that the injected object exports (the interposed functions of libc:
the caller wants libc's).
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys

# One program at a time: another program may define a function of the same name.  trace/ is in each.
PROGRAMS = (("inject", "pic", ("inject", "trace")), ("collector", "obj", ("collector", "trace")), ("cli", "obj", ("cli", "trace")))


MOST_FILES = 3      # of a cycle inside one folder


def objects(build, kind, folders):
    """{object: source}.  Only objects whose source exists: the build folder may have older ones."""
    found = {}
    for folder in folders:
        for where, _, names in sorted(os.walk(os.path.join(build, kind, folder))):
            for name in sorted(names):
                path = os.path.join(where, name)
                source = os.path.relpath(path, os.path.join(build, kind))[:-2] + ".c"
                if name.endswith(".o") and os.path.exists(source):
                    found[path] = source
    return found


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


def graph(paths, kind):
    """{source: {source: {symbols}}}"""
    defined, used = symbols(paths)
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


def between_folders(files, folders):
    return components(set(map(os.path.dirname, files)), folders)


def inside_folders(files, uses):
    """Cycles that lie in one folder, counting only uses inside it."""
    for folder in sorted(set(map(os.path.dirname, files))):
        here = {f for f in files if os.path.dirname(f) == folder}
        yield from components(here, {f: {o for o in uses[f] if o in here} for f in here})


def print_folders(cycle, folders, indent):
    print("%scycle between %d folders: %s" % (indent, len(cycle), " ".join(cycle)))
    for a in cycle:
        for b in cycle:
            if folders[a][b] and (folders[b][a] or len(cycle) > 2):
                print("%s  %s -> %s: %s" % (indent, a, b, pairs(folders[a][b])))


def print_files(cycle, indent):
    print("%scycle of %d files in %s: %s" % (indent, len(cycle), os.path.dirname(cycle[0]), " ".join(map(os.path.basename, cycle))))


def report(program, files, uses):
    folders = between(uses)
    print("%s: %d files" % (program, len(files)))
    wide = between_folders(files, folders)
    for cycle in wide:
        print_folders(cycle, folders, "  ")
    for cycle in components(files, uses):
        if len(set(map(os.path.dirname, cycle))) > 1:
            print("  cycle of %d files across folders: %s" % (len(cycle), " ".join(cycle)))
    inside = list(inside_folders(files, uses))
    for cycle in inside:
        print_files(cycle, "  ")
    print("  total: %d cycles between folders (of %s folders), %d inside folders, %d of them larger than three files" %
          (len(wide), "+".join(str(len(w)) for w in wide) or "0", len(inside), sum(len(c) > MOST_FILES for c in inside)))


def forbidden(files, uses, trees, seen):
    """Prints the forbidden cycles that touch one of the trees, and adds them to seen, as trace/ is in several programs."""
    folders = between(uses)
    wide = [c for c in between_folders(files, folders) if any(f.split("/")[0] in trees for f in c)]
    deep = [c for c in inside_folders(files, uses) if len(c) > MOST_FILES and c[0].split("/")[0] in trees]
    for cycle in wide:
        if tuple(cycle) not in seen:
            print_folders(cycle, folders, "")
    for cycle in deep:
        if tuple(cycle) not in seen:
            print_files(cycle, "")
    seen.update(map(tuple, wide + deep))


def unbuilt(paths, folders, trees):
    """Sources of the trees without an object."""
    built = set(paths.values())
    for folder in folders:
        for where, _, names in sorted(os.walk(folder)) if folder in trees else ():
            for name in sorted(names):
                if name.endswith(".c") and os.path.join(where, name) not in built:
                    yield os.path.join(where, name)


def pairs(list_of_uses, most=4):
    texts = sorted("%s uses %s of %s" % (os.path.basename(a), names[0] + ("" if len(names) == 1 else " and %d more" % (len(names) - 1)),
                                         os.path.basename(b)) for a, b, names in list_of_uses)
    return "; ".join(texts[:most]) + ("" if len(texts) <= most else "; %d more" % (len(texts) - most))


def stop(status, text):
    print("cycles.py: " + text)
    sys.exit(status)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("build", nargs="?", default="build")
    words.add_argument("--uses", nargs=2, metavar=("FROM", "TO"))
    words.add_argument("--fail", nargs="+", metavar="TREE")
    args = words.parse_args()
    build = os.path.abspath(args.build)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if not shutil.which("nm"):
        stop(77, "no nm here")
    if args.fail and not any(program in args.fail for program, _, _ in PROGRAMS):
        words.error("--fail needs inject, collector or cli")
    found = set()
    for program, kind, folders in PROGRAMS:
        if args.fail and program not in args.fail:
            continue
        paths = objects(build, kind, folders)
        if not paths:
            stop(77 if args.fail else 1, "%s has no objects of %s: run 'make'" % (args.build, program))
        for source in unbuilt(paths, folders, args.fail or ()):
            stop(1, "%s has no object of %s: run 'make'" % (args.build, source))
        files, uses = graph(paths, kind)
        if args.fail:
            forbidden(files, uses, args.fail, found)
        elif args.uses:
            for a, b, names in sorted(between(uses)[args.uses[0]][args.uses[1]]):
                print("%s uses %s of %s" % (a, ", ".join(names), b))
        else:
            report(program, files, uses)
    sys.exit(1 if found else 0)


main()
