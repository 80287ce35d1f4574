"""torch_convolutions.py [FOLDER]: convolutions of many kinds, with and without a backward pass; the size of the batch is the number of the case.
FOLDER: under torch.profiler, which leaves there its trace (run.pt.trace.json), and what torch.utils.flop_counter says of each case (flops)."""
import sys

import torch
from torch.nn import functional as F

one, two, three = (torch.conv1d, [20]), (torch.conv2d, [11, 14]), (torch.conv3d, [6, 7, 8])
up_one, up_two, up_three = (F.conv_transpose1d, [9]), (F.conv_transpose2d, [6, 7]), (F.conv_transpose3d, [3, 4, 5])
filters = {1: [3], 2: [3, 2], 3: [3, 2, 3]}

# What, channels into and out of it, how, and what of input, weight and bias wants a gradient; None: inference.
CASES = [
    (two, 1, 1, {}, None),
    (one, 4, 6, {}, None),
    (two, 4, 6, {"stride": 2, "padding": 1}, None),
    (three, 4, 6, {"stride": (1, 2, 3), "padding": (0, 1, 2)}, None),
    (two, 4, 6, {"stride": (2, 1), "padding": (3, 0), "dilation": (2, 3)}, None),
    (two, 4, 6, {"groups": 2}, None),
    (one, 6, 6, {"groups": 6, "padding": 2}, None),
    (two, 4, 6, {"padding": "same"}, None),
    (one, 4, 6, {"padding": "same", "dilation": 3}, None),
    (three, 4, 6, {"padding": "valid"}, None),
    (up_one, 4, 6, {}, None),
    (up_two, 4, 6, {"stride": 2, "padding": 1, "output_padding": (1, 0), "groups": 2}, None),
    (up_three, 4, 4, {"stride": 3, "dilation": (1, 2, 1)}, None),
    (one, 4, 6, {"stride": 3}, "xwb"),
    (two, 4, 6, {"stride": 2, "padding": 1}, "xwb"),
    (three, 4, 6, {"dilation": 2, "groups": 2}, "xwb"),
    (two, 4, 6, {"padding": "same"}, "xwb"),
    (two, 4, 6, {"stride": 2, "padding": 1}, "w"),
    (two, 4, 6, {"stride": 2, "padding": 1}, "x"),
    (two, 4, 6, {"stride": 2, "padding": 1}, "b"),
    (two, 4, 6, {"groups": 2}, "wb"),
    (up_one, 4, 6, {"stride": 2}, "xwb"),
    (up_two, 4, 6, {"stride": 2, "padding": 1, "groups": 2}, "xw"),
    (up_two, 4, 6, {"stride": (3, 2), "output_padding": 1}, "w"),
    (up_three, 4, 6, {"dilation": 2}, "x"),
    (up_one, 4, 6, {}, "b"),
    (two, 4, 4, {"padding": 1}, "xw"),
    None,
]


def run(number, case):
    if case is None:        # one number for all dimensions, as who calls the operator itself may write
        torch.ops.aten.convolution(torch.randn(number, 4, 9, 9), torch.randn(6, 4, 3, 3), None, [2], [1], [1], False, [0], 1)
        return
    (function, space), into, out, how, wanted = case
    torch.manual_seed(number)
    transposed = function in (up_one[0], up_two[0], up_three[0])
    ends = (into, out // how.get("groups", 1)) if transposed else (out, into // how.get("groups", 1))
    x, w, b = torch.randn(number, into, *space), torch.randn(*ends, *filters[len(space)]), torch.randn(out)
    if wanted is None:
        with torch.inference_mode() if number % 2 else torch.no_grad():
            function(x, w, b, **how)
        return
    for name, tensor in (("x", x), ("w", w), ("b", b)):
        tensor.requires_grad_(name in wanted)
    function(x, w, b, **how).sum().backward()


def run_all():
    for number, case in enumerate(CASES, 1):
        run(number, case)


def main():
    torch.set_num_threads(1)
    if len(sys.argv) < 2:
        return run_all()
    with torch.profiler.profile(record_shapes=True) as profile:
        run_all()
    profile.export_chrome_trace(sys.argv[1] + "/run.pt.trace.json")
    from torch.utils.flop_counter import FlopCounterMode

    with open(sys.argv[1] + "/flops", "w") as out:
        for number, case in enumerate(CASES, 1):
            with FlopCounterMode(display=False) as counter:
                run(number, case)
            for name, flops in counter.get_flop_counts()["Global"].items():
                print(str(name).replace("aten.", "aten::"), number, flops, sep="\t", file=out)


main()
