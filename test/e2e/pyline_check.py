"""Holds trace/pyline.c against the interpreter that runs this: python3 pyline_check.py libpyline.so

Every instruction of every code object of many modules of the standard library, and of shapes with long jumps of lines.
"""
import ctypes
import glob
import os
import sys
import types


class Code(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("first_line", ctypes.c_uint32), ("table", ctypes.c_char_p),
                ("size", ctypes.c_size_t)]


lib = ctypes.CDLL(sys.argv[1])
lib.pyline_of.restype = ctypes.c_int64
lib.pyline_of.argtypes = [ctypes.POINTER(Code), ctypes.c_uint32]
counts = {"codes": 0, "instructions": 0, "wrong": 0}


def expected(code):
    """(offset, line or None) of each instruction."""
    if hasattr(code, "co_lines"):
        return [(at, line) for start, end, line in code.co_lines() for at in range(start, end, 2)]
    line_of = ctypes.pythonapi.PyCode_Addr2Line
    return [(at, line_of(ctypes.py_object(code), at)) for at in range(0, len(code.co_code), 2)]


def check(code):
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    ours = Code(sys.hexversion >> 16, code.co_firstlineno, table, len(table))
    counts["codes"] += 1
    for at, line in expected(code):
        counts["instructions"] += 1
        got = lib.pyline_of(ours, at)
        if got != (-1 if line is None else line):
            counts["wrong"] += 1
            if counts["wrong"] < 10:
                print("%s %s +%d: %s, but Python says %s" % (code.co_filename, code.co_name, at, got, line))
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            check(const)


def jumps():
    return ("def f():\n" + "\n" * 400 + "  a = 1\n" + "\n" * 700 + "  x = (\n" + "\n" * 300 + "   a,\n   1)\n  b = 3\n"
            + "  for i in range(2):\n" + "".join("    x = %d + i\n" % i for i in range(900)) + "    c = 4\n  return (x\n"
            + "\n" * 200 + " + b)\n")


where = os.path.dirname(os.__file__)
for path in sorted(glob.glob(where + "/*.py") + glob.glob(where + "/asyncio/*.py") + glob.glob(where + "/email/*.py")):
    if not os.path.exists(path):
        continue        # a link into a package that is not installed
    with open(path, "rb") as source:
        check(compile(source.read(), path, "exec", dont_inherit=True))
check(compile(jumps(), "<jumps>", "exec"))
check(compile(" (1,\n  2)".strip() + "\n" * 300 + "x = 1", "<module>", "exec"))
print("%(codes)d code objects, %(instructions)d instructions, %(wrong)d wrong" % counts)
sys.exit(counts["wrong"] > 0 or counts["codes"] < 1000)
