"""Unit tests of the check's own arithmetic, parsing and comparing: python3 test_check.py [CLASS]."""

import copy
import csv
import glob
import os
import re
import tempfile
import time
import unittest

import command
import result
import stats
import trace


def a_step(name="counts", checks=(), figures=(), status="passed", why=""):
    return {
        "name": name,
        "title": "title",
        "status": status,
        "why": why,
        "seconds": 1.0,
        "checks": [dict(zip(("what", "verdict", "expected", "got"), c)) for c in checks],
        "figures": list(figures),
    }


def a_result(*steps, date="2026-01-02T03:04:05Z", commit="abc"):
    return {
        "schema": result.SCHEMA,
        "label": "GPU",
        "simulated": False,
        "quick": False,
        "date": date,
        "finished": True,
        "seconds": 1.0,
        "budget": 540,
        "machine": {"commit": commit},
        "totals": result.totals(steps),
        "steps": list(steps),
    }


class Statistics(unittest.TestCase):
    def test_median_is_the_middle_or_the_mean_of_the_two_in_the_middle(self):
        self.assertEqual(stats.median([5, 1, 3]), 3)
        self.assertEqual(stats.median([4, 1, 3, 2]), 2.5)
        self.assertEqual(stats.median([7]), 7)
        self.assertIsNone(stats.median([]))

    def test_median_does_not_follow_one_run_that_went_wrong(self):
        self.assertEqual(stats.median([10, 11, 1000]), 11)

    def test_spread_is_the_range_as_a_part_of_the_median(self):
        self.assertAlmostEqual(stats.spread([90, 100, 110]), 0.2)
        self.assertIsNone(stats.spread([5]))
        self.assertIsNone(stats.spread([0, 0]))

    def test_a_figure_has_median_spread_and_ratio_to_bare(self):
        figure = result.make_figure("ns per launch", "gprof-run", "ns", [3000, 3300, 3100], 2000)
        self.assertEqual((figure["median"], figure["ratio"], figure["spread"]), (3100, 1.55, 0.0968))
        self.assertIsNone(result.make_figure("x", "y", "ns", [1])["ratio"])


class Comparison(unittest.TestCase):
    def test_equal_results_have_no_difference(self):
        res = a_result(
            a_step(checks=[("kernels", "PASS", "1", "1")], figures=[result.make_figure("a", "b", "ns", [1, 2])])
        )
        self.assertEqual(stats.compare(res, copy.deepcopy(res)), [])

    def test_a_check_that_fails_now_comes_first(self):
        old = a_result(a_step(checks=[("copies", "FAIL", "2", "1"), ("kernels", "PASS", "1", "1")]))
        new = a_result(a_step(checks=[("copies", "PASS", "2", "2"), ("kernels", "FAIL", "1", "0")]))
        said = stats.compare(old, new)
        self.assertEqual(said[0], "worse: counts: kernels: was PASS, is FAIL (expected 1, got 0)")
        self.assertTrue(said[1].startswith("better: counts: copies"))

    def test_a_figure_beyond_the_threshold_whose_runs_do_not_overlap_is_said(self):
        old = a_result(a_step(figures=[result.make_figure("ns per launch", "gprof-run", "ns", [100, 102, 104])]))
        new = a_result(a_step(figures=[result.make_figure("ns per launch", "gprof-run", "ns", [120, 122, 124])]))
        self.assertEqual(
            stats.compare(old, new), ["worse: counts: ns per launch: gprof-run: was 102 ns, is 122 (1.20 times)"]
        )
        self.assertEqual(stats.compare(new, old)[0][:6], "better")
        self.assertEqual(stats.compare(old, new, 1.25), [])

    def test_a_figure_whose_runs_overlap_is_not_said(self):
        old = a_result(a_step(figures=[result.make_figure("a", "b", "ns", [100, 102, 130])]))
        new = a_result(a_step(figures=[result.make_figure("a", "b", "ns", [120, 122, 124])]))
        self.assertEqual(stats.compare(old, new), [])

    def test_what_only_one_of_them_has_is_counted(self):
        self.assertEqual(
            stats.compare(a_result(a_step(checks=[("x", "PASS", "1", "1")])), a_result()),
            ["1 checks only in the old result"],
        )


class Schema(unittest.TestCase):
    def test_a_right_result_has_no_fault(self):
        res = a_result(a_step(checks=[("x", "VALUE", "", "1")], figures=[result.make_figure("a", "b", "ns", [1])]))
        self.assertEqual(result.faults(res), [])

    def test_a_missing_a_wrong_and_a_strange_field_are_faults(self):
        res = a_result(a_step(status="fine"))
        del res["label"]
        res["seconds"], res["colour"] = "long", 1
        self.assertEqual(
            result.faults(res),
            [
                "result: no 'label'",
                "result: 'seconds' is a str",
                "result: 'colour' is not in the schema",
                "step counts: status 'fine'",
            ],
        )

    def test_a_step_that_was_cut_off_is_a_failure(self):
        self.assertEqual(
            result.totals([a_step(status="cut off"), a_step(status="not run")]),
            {"passed": 0, "failed": 1, "values": 0, "skipped": 1},
        )

    def test_joined_results_have_the_steps_of_all_and_the_later_of_two(self):
        first = a_result(a_step("a", [("x", "FAIL", "1", "0")]), a_step("b", status="not run"))
        second = a_result(a_step("a", [("x", "PASS", "1", "1")]), a_step("c"), date="2026-01-03T00:00:00Z")
        both = result.join([second, first])
        self.assertEqual([s["name"] for s in both["steps"]], ["a", "b", "c"])
        self.assertEqual(both["totals"]["failed"], 0)
        self.assertEqual(result.faults(both), [])

    def test_results_of_different_commits_are_not_joined(self):
        with self.assertRaises(ValueError):
            result.join([a_result(), a_result(commit="def")])

    def test_the_text_names_what_failed_and_what_is_not_there(self):
        res = a_result(
            a_step(checks=[("kernels", "FAIL", "2", "1")]),
            a_step("slow", status="cut off", why="after 9 s"),
            a_step("later", status="not run", why="no time"),
        )
        said = result.text(res)
        for words in ("counts: kernels: expected 2, got 1", "slow: cut off: after 9 s", "later: not run: no time"):
            self.assertIn(words, said)


class Names(unittest.TestCase):
    def test_api_names_lose_versions_and_variants(self):
        for name in (
            "cudaLaunchKernel_v7000",
            "__cudaLaunchKernel_v13000",
            "cudaLaunchKernel_ptsz_v7000",
            "cudaLaunchKernel",
        ):
            self.assertEqual(trace.plain_api(name), "cudaLaunchKernel")
        self.assertEqual(trace.plain_api("cuMemcpyHtoD_v2"), "cuMemcpyHtoD")

    def test_base_names_lose_types_and_arguments(self):
        self.assertEqual(trace.base_name("saxpy"), "saxpy")
        self.assertEqual(trace.base_name("spin_in_graph(unsigned long long)"), "spin_in_graph")
        self.assertEqual(
            trace.base_name(
                "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, T<char*, 3> >(int, F)"
            ),
            "at::native::vectorized_elementwise_kernel",
        )
        self.assertEqual(trace.base_name("void f<&A::operator->>(int)"), "f")

    def test_expectations_of_all_programs_are_read(self):
        said = (
            "expect kernels 150\nexpect kernel saxpy 100\nName,Instances\nspin_in_graph(unsigned long long),15\nmemcpy HtoD,5\n"
            "memset,1\nrange step 1,3\nlayer 1,saxpy(int),4\nlayer 2,saxpy(int),6\nspin_ptx,8\ngraph launches,5\nnoise 12\n"
        )
        self.assertEqual(
            sorted(trace.expectations(said), key=str),
            sorted(
                [
                    ("kernels", None, 150),
                    ("operation", "memcpy Host-to-Device", 5),
                    ("sets", None, 1),
                    ("range", "step 1", 3),
                    ("api", "cudaGraphLaunch", 5),
                    ("kernel", "saxpy", 110),
                    ("kernel", "spin_in_graph", 15),
                    ("kernel", "spin_ptx", 8),
                ],
                key=str,
            ),
        )

    def test_differences_are_named(self):
        self.assertEqual(trace.difference({"a": 1, "b": 2}, {"a": 1, "c": 3}), "b: 2 and 0; c: 0 and 3")
        self.assertEqual(trace.difference({"a": 1}, {"a": 1}), "")


def a_slice(cat, name, ts, dur, correlation=None):
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "ts": ts,
        "dur": dur,
        "pid": 1,
        "tid": 1,
        "args": {"correlation": correlation},
    }


class KinetoTraces(unittest.TestCase):
    EVENTS = [
        a_slice("user_annotation", "measured", 100.0, 50.0),
        {"ph": "M", "name": "process_name"},
        a_slice("cuda_runtime", "cudaLaunchKernel", 90.0, 1.0, 1),
        a_slice("kernel", "void f<int>(int)", 120.0, 2.5, 1),
        a_slice("cuda_runtime", "cudaLaunchKernel", 110.0, 1.0, 2),
        a_slice("kernel", "void f<int>(int)", 160.0, 3.001, 2),
        a_slice("kernel", "g()", 140.0, 1.0, 3),
        a_slice("gpu_memcpy", "Memcpy HtoD", 141.0, 1.0, 3),
        a_slice("gpu_memset", "Memset", 1.0, 1.0, 3),
    ]

    def test_all_is_counted_without_a_range(self):
        k = trace.Kineto(self.EVENTS)
        self.assertEqual(
            (k.count("kernel"), k.count("copy"), k.count("set"), k.calls["cudaLaunchKernel"]), (3, 1, 1, 2)
        )
        self.assertEqual(k.kernel_ns(), 6501)
        self.assertEqual(k.kernels(True), {"f": 2, "g": 1})

    def test_in_a_range_is_what_was_launched_in_it(self):
        k = trace.Kineto(self.EVENTS, "measured")
        self.assertEqual(
            k.kernels(), {"void f<int>(int)": 1, "g()": 1}
        )  # the second by its own time: its call is not there
        self.assertEqual((k.count("copy"), k.count("set"), k.calls["cudaLaunchKernel"]), (1, 0, 1))

    def test_a_range_that_is_not_there_holds_nothing(self):
        self.assertEqual(trace.Kineto(self.EVENTS, "other").count("kernel"), 0)

    def test_real_traces_have_the_kernel_time_that_another_program_found(self):
        data = os.environ.get(
            "GPROF_TEST_DATA", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../shared/data")
        )
        table = os.path.join(data, "hta", "golden", "perfetto-counts.csv")
        if not os.path.exists(table):
            self.skipTest("no real traces in GPROF_TEST_DATA")
        compared = 0
        with open(table, encoding="utf-8") as f:
            for row in csv.DictReader(f):
                for path in glob.glob(os.path.join(data, "hta", "traces", row["set"], row["file"])):
                    if not row["kernel_dur_ns"].isdigit() or os.path.getsize(path) > 700 << 10:  # seconds each beyond
                        continue
                    k = trace.Kineto(trace.load_kineto(path))
                    self.assertEqual(k.kernel_ns(), int(row["kernel_dur_ns"]), row["file"])
                    self.assertEqual(sum(k.kernels().values()), k.count("kernel"))
                    compared += k.count("kernel") > 0
        self.assertGreater(compared, 5)


class HealthReasons(unittest.TestCase):
    def test_steps_ask_for_reasons_that_health_has(self):
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "../../../trace/health.def"), encoding="utf-8") as f:
            known = set(re.findall(r"^REASON\(\d+, *(\w+)", f.read(), re.M)) | {"no_kernel"}  # computed by the report
        asked = set()
        for path in glob.glob(os.path.join(here, "steps_*.py")):
            with open(path, encoding="utf-8") as f:
                asked |= set(re.findall(r"\.lost\(([^)]*)\)", f.read()))
        self.assertGreater(len(asked), 3)
        self.assertEqual(asked - {f'"{name}"' for name in known}, set())

    def test_a_column_that_rows_do_not_have_is_an_error(self):
        reports = trace.Reports(lambda _: 'kernel process=1 corr=7 flags=0x10 name="a b"\n', "x")
        self.assertEqual((reports.column("kernel", "corr"), reports.column("kernel", "flags")), ([7], [16]))
        with self.assertRaises(KeyError):
            reports.column("kernel", "correlation")


class Commands(unittest.TestCase):
    def test_a_command_that_hangs_is_killed_with_its_children_at_its_limit(self):
        with tempfile.TemporaryDirectory() as scratch:
            begin = time.monotonic()
            outcome = command.run(["sh", "-c", "echo begun; sleep 100 & wait"], 0.5, scratch=scratch)
            self.assertTrue(outcome.late)
            self.assertLess(time.monotonic() - begin, 20)
            self.assertEqual(outcome.out, "begun\n")

    def test_a_child_that_keeps_the_output_open_holds_nobody_up(self):
        with tempfile.TemporaryDirectory() as scratch:
            begin = time.monotonic()
            outcome = command.run(["sh", "-c", "sleep 30 & echo done"], 25, scratch=scratch)
            self.assertLess(time.monotonic() - begin, 20)
            self.assertEqual((outcome.rc, outcome.out), (0, "done\n"))

    def test_what_cannot_be_started_is_an_outcome(self):
        self.assertEqual(command.run(["/no/such/program"], 1).rc, 127)

    def test_figures_and_lines_are_read(self):
        outcome = command.Outcome(0, "figure ns_per_launch 12.5\ndid queries 3\n", "", 0, 0, False)
        self.assertEqual((outcome.figures(), outcome.lines("did")), ({"ns_per_launch": 12.5}, [["queries", "3"]]))

    def test_the_last_words_are_the_programs_not_our_page(self):
        outcome = command.Outcome(
            1, "", "error: no luck\ngprof-run: the trace is x\n  next  gprof-trace\n", 0, 0, False
        )
        self.assertEqual(outcome.last_words(), "error: no luck")


if __name__ == "__main__":
    unittest.main()
