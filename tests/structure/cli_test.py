# SPDX-License-Identifier: Apache-2.0
"""The command line from outside: exit codes, one-line errors, JSON, device strings, odd paths.

Usage: cli_test.py HEADRACE_BINARY [unittest options]
"""
import json
import math
import os
import struct
import subprocess

from command_case import CommandCase, run_tests
from ir_text import ODD_FOLDERS, IrText, read_npy_f32, write_npy

RECIPE = json.dumps({"format": 1, "name": "relu", "family": "relu", "precision": "f32", "description": "ReLU alone",
                     "operators": ["ReLU"], "drop": []})


def relu_net(path, name="x", shape=(1, 4)):
    net = IrText()
    net.result(net.add("y", "ReLU", [net.parameter(name, shape)], shape))
    return net.write(path)


def small_classifier(path):
    """A convolution, a pool, a fully connected layer and a softmax on [1,3,17,19]."""
    net = IrText()
    x = net.parameter("x", (1, 3, 17, 19))
    weights = net.constant("w", (21, 3, 3, 3), [0.1 * math.sin(i) for i in range(21 * 27)])
    conv = net.add("conv", "Convolution", [x, weights], (1, 21, 17, 19), strides="1,1", dilations="1,1",
                   pads_begin="1,1", pads_end="1,1")
    relu = net.add("relu", "ReLU", [conv], (1, 21, 17, 19))
    pool = net.add("pool", "MaxPool", [relu], (1, 21, 8, 9), kernel="2,2", strides="2,2", pads_begin="0,0",
                   pads_end="0,0", rounding_type="floor")
    flat = net.add("flat", "Reshape", [pool, net.constant_i64("shape", [1, -1])], (1, 1512), special_zero="false")
    matrix = net.constant("m", (1512, 10), [0.05 * math.cos(i) for i in range(15120)])
    scores = net.add("scores", "MatMul", [flat, matrix], (1, 10), transpose_a="false", transpose_b="false")
    net.result(net.add("y", "SoftMax", [scores], (1, 10), axis="1"))
    return net.write(path)


class CliCase(CommandCase):
    def needs(self, device):
        devices = json.loads(self.succeed("devices", "--json").stdout)["devices"]
        if not any(d["name"] == device or device in d.get("aliases", ()) for d in devices):
            self.skipTest(f"no {device}")


class UsageTest(CliCase):
    def test_wrong_usage_is_exit_2(self):
        model = relu_net(self.dir / "m.xml")
        for arguments in ((), ("nonsense",), ("devices", "--nonsense"), ("run", model), ("query", model),
                          ("program", "POCL"), ("program", "POCL", "f.hrb", "--erase"), ("bitstream",),
                          ("bitstream", "build", "r.json"), ("bench", model, "-d", "CPU", "--nireq", "0"),
                          ("bench", model, "-d", "CPU", "--niter", "0"), ("bench", model, "-d", "CPU", "-t", "-1"),
                          ("bench", model, "-d", "CPU", "--niter", "3", "-t", "1"),
                          ("bench", model, "-d", "CPU", "--hint", "speed"),
                          ("bench", model, "-d", "CPU", "--nstreams", "0")):
            with self.subTest(arguments=arguments):
                self.fail_with(2, *arguments)

    def test_help_and_version_are_exit_0(self):
        self.assertIn("bench", self.succeed("--help").stdout)
        self.assertIn("--niter", self.succeed("bench", "--help").stdout)
        self.assertIn("headrace", self.succeed("--version").stdout)

    def test_a_full_disk_behind_stdout_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([self.BINARY, "devices", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("headrace: error: ", done.stderr)


class DevicesTest(CliCase):
    def test_lists_the_cpu(self):
        self.assertIn("CPU", self.succeed("devices").stdout)
        devices = json.loads(self.succeed("devices", "--json").stdout)["devices"]
        self.assertEqual([d for d in devices if d["name"] == "CPU"][0]["problem"], "")
        names = [d["name"] for d in devices if d["name"]]
        self.assertEqual(len(set(names)), len(names))

    def test_no_platform_is_told_with_a_hint(self):
        for arguments in (("devices",), ("devices", "--json")):
            line = self.fail_with(1, *arguments, OCL_ICD_VENDORS="/nonexistent")
            self.assertIn("no OpenCL platform", line)
            self.assertIn("pocl-opencl-icd", line)
        self.assertIn("CPU", self.run_program("devices", OCL_ICD_VENDORS="/nonexistent").stdout)
        document = json.loads(self.run_program("devices", "--json", OCL_ICD_VENDORS="/nonexistent").stdout)
        self.assertEqual([d["name"] for d in document["devices"] if d["name"]], ["CPU"])
        self.assertIn("no OpenCL platform", document["hint"])

    def test_a_platform_without_devices_is_told_by_name(self):
        vendors = self.dir / "vendors"
        vendors.mkdir()
        (vendors / "pocl.icd").write_text("libpocl.so.2\n")
        done = self.succeed("devices", OCL_ICD_VENDORS=str(vendors), POCL_CACHE_DIR="/proc/nope")
        self.assertIn("Portable Computing Language: ", done.stdout)
        self.assertNotIn("no OpenCL platform", done.stdout)
        document = json.loads(self.succeed("devices", "--json", OCL_ICD_VENDORS=str(vendors), POCL_CACHE_DIR="/proc/nope").stdout)
        self.assertEqual([d["name"] for d in document["devices"] if d["name"]], ["CPU"])
        self.assertEqual([d["platform"] for d in document["devices"] if not d["name"]], ["Portable Computing Language"])
        self.assertNotIn("hint", document)

    def test_the_cpu_runs_without_any_platform(self):
        model = relu_net(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (1, 4), (-1, 2, -3, 4))
        for devices in ("CPU", "HETERO:CPU", "AUTO"):
            self.succeed("run", model, "-d", devices, "-i", self.dir / "x.npy", "-o", self.dir / "out",
                         OCL_ICD_VENDORS="/nonexistent")
            self.assertEqual(read_npy_f32(self.dir / "out/y.npy"), [0, 2, 0, 4])

    def test_bad_device_strings_are_one_line_that_lists_the_devices(self):
        model = relu_net(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (1, 4), (-1, 2, -3, 4))
        for devices in ("HETERO:", "HETERO:CPU,", "HETERO:CPU,,CL.0", "HETERO", "HETERO:,CPU", "NOPE", "CL.99", "CL.x", "CL.",
                        "CPU,CPU", "HETERO:CPU,CPU", "GPU.7", "cl.0 ", "POCL#", "POCL#2/2", "POCL#0/0", "HETERO:HETERO:CPU",
                        "MULTI:", "", ":", ",", "CPU:"):
            for command in (("query", model), ("bench", model, "--niter", "1"), ("run", model, "-i", self.dir / "x.npy")):
                with self.subTest(devices=devices, command=command[0]):
                    self.assertIn("CPU", self.fail_with(1, *command, "-d", devices))

    def test_a_run_that_lands_wholly_on_the_cpu_says_so(self):
        net = IrText()
        net.result(net.add("y", "ShapeOf", [net.parameter("x", (1, 4))], (2,), opset=3, output_type="i64"))
        model = net.write(self.dir / "shape.xml")
        self.needs("CL.0")
        self.assertIn("every layer runs on the CPU", self.succeed("query", model, "-d", "HETERO:CL.0,CPU").stderr)
        self.assertEqual(self.succeed("query", model, "-d", "CPU").stderr, "")


class DeviceLimitsTest(CliCase):
    """Devices that allow less than kernels and networks would like (PoCL's knobs)."""

    def run_net(self, model, device, **environment):
        self.succeed("run", model, "-d", device, "-i", self.dir / "x.npy", "-o", self.dir / "out", **environment)
        return read_npy_f32(self.dir / "out/y.npy")

    def test_small_work_groups_give_the_same_numbers(self):
        self.needs("POCL")
        model = small_classifier(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (1, 3, 17, 19), [math.sin(0.7 * i) for i in range(969)])
        expected = self.run_net(model, "CPU")
        self.assertAlmostEqual(sum(expected), 1, delta=1e-5)
        for limit in ("1", "16", "64"):
            with self.subTest(limit=limit):
                actual = self.run_net(model, "POCL", POCL_MAX_WORK_GROUP_SIZE=limit)
                for a, e in zip(actual, expected, strict=True):
                    self.assertAlmostEqual(a, e, delta=1e-5)

    def test_a_tensor_above_the_largest_allocation(self):
        self.needs("POCL")
        bench = ("bench", "--niter", "1", "--json")
        large = relu_net(self.dir / "large.xml", shape=(1, 1, 8192, 8193))
        line = self.fail_with(1, *bench, large, "-d", "POCL", POCL_MEMORY_LIMIT="1")
        for part in ("'y'", "268468224", "268435456"):
            self.assertIn(part, line)
        self.succeed(*bench, large, "-d", "HETERO:POCL,CPU", POCL_MEMORY_LIMIT="1")
        fits = relu_net(self.dir / "fits.xml", shape=(1, 1, 8192, 8192))
        self.succeed(*bench, fits, "-d", "POCL", POCL_MEMORY_LIMIT="1")


class RunTest(CliCase):
    def test_runs_with_and_without_the_input_name(self):
        model = relu_net(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (1, 4), (-1, 2, -3, 4))
        for given in (self.dir / "x.npy", f"x={self.dir / 'x.npy'}"):
            done = self.succeed("run", model, "-d", "CPU", "-i", given, "-o", self.dir / "out", "--json")
            self.assertEqual(json.loads(done.stdout)["outputs"], {"y": {"file": "y.npy", "shape": [1, 4], "type": "f32"}})
            self.assertEqual(read_npy_f32(self.dir / "out/y.npy"), [0, 2, 0, 4])

    def test_output_files_are_named_after_their_tensors(self):
        net = IrText()
        x = net.parameter("x", (1, 2))
        for name in ("a/b:0", "a_b_0", "a b 0", "..", "ü"):
            net.result(net.add(name, "ReLU", [x], (1, 2)))
        write_npy(self.dir / "x.npy", (1, 2), (-1, 1))
        done = self.succeed("run", net.write(self.dir / "m.xml"), "-d", "CPU", "-i", self.dir / "x.npy", "-o",
                            self.dir / "out", "--json")
        files = {name: row["file"] for name, row in json.loads(done.stdout)["outputs"].items()}
        self.assertEqual(files, {"a/b:0": "a_b_0.npy", "a_b_0": "a_b_0_2.npy", "a b 0": "a_b_0_3.npy", "..": "...npy",
                                 "ü": "__.npy"})
        self.assertEqual(sorted(path.name for path in (self.dir / "out").iterdir()), sorted(files.values()))

    def test_odd_paths_and_input_names(self):
        for name in ODD_FOLDERS:
            with self.subTest(folder=name):
                folder = self.dir / name
                folder.mkdir()
                model = relu_net(folder / f"{name}.xml", name="in=put")
                write_npy(folder / f"{name}.npy", (1, 4), (-1, 2, -3, 4))
                for given in (folder / f"{name}.npy", f"in=put={folder / name}.npy"):
                    self.succeed("run", model, "-d", "CPU", "-i", given, "-o", folder / "out dir")
                    self.assertEqual(read_npy_f32(folder / "out dir/y.npy"), [0, 2, 0, 4])

    def test_odd_folders_of_cache_state_and_bitstreams(self):
        self.needs("POCL")
        for name in ODD_FOLDERS:
            with self.subTest(folder=name):
                folder = self.dir / name
                folder.mkdir()
                model = relu_net(folder / "m.xml")
                write_npy(folder / "x.npy", (1, 4), (-1, 2, -3, 4))
                homes = {"HEADRACE_CACHE_DIR": str(folder / "cache"), "HEADRACE_STATE_DIR": str(folder / "state")}
                run = ("run", model, "-d", "POCL", "-i", folder / "x.npy", "-o", folder / "out")
                for _ in range(2):  # the second run finds what the first one left in the cache
                    self.succeed(*run, **homes)
                    self.assertEqual(read_npy_f32(folder / "out/y.npy"), [0, 2, 0, 4])
                self.assertTrue(any((folder / "cache").iterdir()))
                recipe = folder / "recipe.json"
                recipe.write_text(RECIPE)
                self.succeed("bitstream", "build", recipe, "-d", "POCL", "-o", folder / f"{name}.hrb", **homes)
                self.succeed("bitstream", "show", folder / f"{name}.hrb", **homes)
                self.succeed("program", "POCL", folder / f"{name}.hrb", **homes)
                self.assertRegex(self.succeed("devices", **homes).stdout, r"(?m)^CL.*POCL.* relu ")
                self.succeed(*run, **homes)

    def test_packed_weights_are_kept_and_never_stale(self):
        self.needs("POCL")
        model = small_classifier(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (1, 3, 17, 19), [math.cos(i) for i in range(3 * 17 * 19)])

        def scores():
            done = self.succeed("run", model, "-d", "POCL", "-i", self.dir / "x.npy", "-o", self.dir / "out")
            return read_npy_f32(self.dir / "out/y.npy"), done.stderr

        first, _ = scores()
        kept = sorted((self.dir / "cache/weights").iterdir())
        self.assertEqual(len(kept), 1)  # the matrix; the filters are too small
        self.assertEqual(scores(), (first, ""))
        self.assertEqual(sorted((self.dir / "cache/weights").iterdir()), kept)
        # Damaged: one warning, the same numbers, and written again.
        whole = kept[0].read_bytes()
        kept[0].write_bytes(whole[:5000] + b"?" + whole[5001:])
        again, warning = scores()
        self.assertEqual(again, first)
        self.assertEqual(warning.count("headrace: warning: "), 1, warning)
        self.assertEqual(kept[0].read_bytes(), whole)
        # One weight changes behind the file's size and times.
        weights = model.with_suffix(".bin")
        times = weights.stat()
        with weights.open("r+b") as file:
            file.seek(-40, os.SEEK_END)
            file.write(struct.pack("<f", 5.0))
        os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(weights.stat().st_mtime_ns, times.st_mtime_ns)
        self.assertNotEqual(scores()[0], first)

    def test_missing_and_unknown_inputs_are_named(self):
        net = IrText()
        sides = [net.parameter(name, (1, 2)) for name in ("left", "right")]
        net.result(net.add("y", "Add", sides, (1, 2), auto_broadcast="numpy"))
        model = net.write(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (1, 2), (1, 2))
        x = self.dir / "x.npy"
        line = self.fail_with(1, "run", model, "-d", "CPU")
        self.assertTrue("left" in line and "right" in line, line)
        self.assertIn("'right'", self.fail_with(1, "run", model, "-d", "CPU", "-i", f"left={x}"))
        self.assertIn("'middle'", self.fail_with(1, "run", model, "-d", "CPU", "-i", f"middle={x}"))
        self.assertIn("left", self.fail_with(1, "run", model, "-d", "CPU", "-i", x))
        self.assertIn("twice", self.fail_with(1, "run", model, "-d", "CPU", "-i", f"left={x}", "-i", f"left={x}"))
        self.succeed("run", model, "-d", "CPU", "-i", f"left={x}", "-i", f"right={x}")

    def test_bad_arrays_are_named(self):
        model = relu_net(self.dir / "m.xml")
        bad = self.dir / "bad.npy"
        write_npy(bad, (1, 4), (1, 2, 3, 4))
        whole = bad.read_bytes()
        for content in (b"", b"text", whole[:-1], whole[:30], whole.replace(b"<f4", b">f4"), whole.replace(b"(1,4,)", b"(9,9,)")):
            bad.write_bytes(content)
            self.assertIn("bad.npy", self.fail_with(1, "run", model, "-d", "CPU", "-i", bad))
        write_npy(bad, (1, 5), (1, 2, 3, 4, 5))
        line = self.fail_with(1, "run", model, "-d", "CPU", "-i", bad)
        self.assertTrue("[1,5]" in line and "[1,4]" in line, line)
        write_npy(bad, (1, 4), (1, 2, 3, 4), "<i8", "q")
        line = self.fail_with(1, "run", model, "-d", "CPU", "-i", bad)
        self.assertTrue("i64" in line and "f32" in line, line)
        self.assertIn("nothing.npy", self.fail_with(1, "run", model, "-d", "CPU", "-i", self.dir / "nothing.npy"))

    def test_bad_models_and_folders_are_named(self):
        write_npy(self.dir / "x.npy", (1, 4), (1, 2, 3, 4))
        model = relu_net(self.dir / "m.xml")
        self.assertIn("nothing.xml", self.fail_with(1, "run", self.dir / "nothing.xml", "-d", "CPU", "-i", self.dir / "x.npy"))
        (self.dir / "text.xml").write_text("no network")
        self.assertIn("text.xml", self.fail_with(1, "query", self.dir / "text.xml", "-d", "CPU"))
        (self.dir / "file").write_text("")
        self.assertIn("file", self.fail_with(1, "run", model, "-d", "CPU", "-i", self.dir / "x.npy", "-o", self.dir / "file/out"))
        self.assertIn("nothing.bin", self.fail_with(1, "run", model, "-w", self.dir / "nothing.bin", "-d", "CPU", "-i",
                                                    self.dir / "x.npy"))

    def test_profile_is_part_of_the_json(self):
        model = relu_net(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (1, 4), (-1, 2, -3, 4))
        done = self.succeed("run", model, "-d", "CPU", "-i", self.dir / "x.npy", "--pc", "--json")
        self.assertTrue(any("y" in row["layer"] for row in json.loads(done.stdout)["profile"]))
        self.assertIn("TIME us", self.succeed("run", model, "-d", "CPU", "-i", self.dir / "x.npy", "--pc").stdout)


class QueryTest(CliCase):
    def test_text_json_and_dot(self):
        model = relu_net(self.dir / "m.xml")
        self.assertIn("ReLU", self.succeed("query", model, "-d", "CPU").stdout)
        dot = self.dir / "where it.dot"
        layers = json.loads(self.succeed("query", model, "-d", "CPU", "--json", "--dot", dot).stdout)["layers"]
        self.assertEqual([row["device"] for row in layers if row["type"] == "ReLU"], ["CPU"])
        self.assertTrue(dot.read_text().startswith("digraph"))
        self.assertIn("nope", self.fail_with(1, "query", model, "-d", "CPU", "--dot", self.dir / "nope/x.dot"))

    def test_input_shapes(self):
        net = IrText()
        net.result(net.add("y", "ReLU", [net.parameter("x", ("?", 4))], (-1, 4)))
        model = net.write(self.dir / "m.xml")
        for shape in ("x[3,4]", "[3,4]"):
            self.succeed("query", model, "-d", "CPU", "--input-shape", shape)
        for shape in ("x", "x[", "x[3,4", "x[a,4]", "x[3,,4]", "x[3,4,]", "x[-1,4]", "x[3,5]", "nope[3,4]", "x[3,4]y",
                      "x[3,4],x[3,4]", "x[99999999999999999999,4]"):
            with self.subTest(shape=shape):
                self.fail_with(1, "query", model, "-d", "CPU", "--input-shape", shape)

    def test_dump_prints_the_graph_and_stops(self):
        model = relu_net(self.dir / "m.xml")
        self.assertIn("ReLU", self.succeed("query", model, "-d", "CPU", "--dump=after:read").stdout)
        self.fail_with(1, "query", model, "-d", "CPU", "--dump=after:nonsense")
        self.fail_with(1, "query", model, "-d", "CPU", "--dump=read")


class BenchTest(CliCase):
    def test_json_has_the_promised_keys(self):
        model = relu_net(self.dir / "m.xml")
        for extra in ((), ("--nireq", "3"), ("--hint", "throughput"), ("--nireq", "50")):
            done = self.succeed("bench", model, "-d", "CPU", "--niter", "7", "--json", *extra)
            figures = json.loads(done.stdout)
            self.assertEqual(set(figures), {"median_ms", "min_ms", "p95_ms", "fps", "first_ms", "read_ms", "load_ms", "device", "iterations"})
            self.assertEqual(figures["iterations"], 7)
            self.assertEqual(figures["device"], "CPU")
            self.assertTrue(0 < figures["min_ms"] <= figures["median_ms"] <= figures["p95_ms"])

    def test_the_hint_sets_the_number_of_requests(self):
        self.needs("POCL")
        model = relu_net(self.dir / "m.xml")
        units = {name: d["compute_units"] for d in json.loads(self.succeed("devices", "--json").stdout)["devices"]
                 for name in (d["name"], *d.get("aliases", ()))}
        for extra, requests in (((), 1), (("--hint", "throughput"), units["POCL"]), (("--nstreams", "3"), 3),
                                (("--hint", "throughput", "--nireq", "5"), 5)):
            with self.subTest(extra=extra):
                done = self.succeed("bench", model, "-d", "POCL", "--niter", "200", *extra)
                self.assertRegex(done.stdout, rf"(?m)^requests +{requests}$")
                self.assertRegex(done.stdout, r"(?m)^iterations +200$")

    def test_the_cpu_answers_while_kernels_are_compiled(self):
        self.needs("POCL")
        model = relu_net(self.dir / "m.xml")
        empty = {"HEADRACE_CACHE_DIR": str(self.dir / "cache"), "POCL_CACHE_DIR": str(self.dir / "pocl")}
        (self.dir / "pocl").mkdir()
        done = self.succeed("bench", model, "-d", "POCL", "--niter", "3", "--startup-fallback", "--json",
                            HEADRACE_LOG="info,startup", **empty)
        figures = json.loads(done.stdout)
        self.assertGreaterEqual(figures["startup"]["cpu_runs"], 1)
        self.assertLess(figures["load_ms"] + figures["first_ms"], figures["startup"]["ready_ms"])
        self.assertIn("POCL,the CPU answers while 1 programs are compiled", done.stderr)
        self.assertIn("POCL,ready after", done.stderr)
        again = self.succeed("bench", model, "-d", "POCL", "--niter", "3", "--startup-fallback", "--json", **empty)
        self.assertEqual(json.loads(again.stdout)["startup"]["cpu_runs"], 0, "everything is in the cache")

    def test_seconds_limit_the_run(self):
        done = self.succeed("bench", relu_net(self.dir / "m.xml"), "-d", "CPU", "-t", "0.2")
        self.assertIn("median", done.stdout)


class BitstreamTest(CliCase):
    def test_damaged_files_are_refused(self):
        bad = self.dir / "bad.hrb"
        for content in (b"", b"random bytes \x00\xff" * 100):
            bad.write_bytes(content)
            self.assertIn("bad.hrb", self.fail_with(1, "bitstream", "show", bad))
            self.fail_with(1, "program", "CL.0", bad)
        self.fail_with(1, "program", "CPU", bad)
        self.fail_with(1, "bitstream", "show", self.dir / "nothing.hrb")
        self.fail_with(1, "bitstream", "list", "--dir", self.dir / "nothing")
        listed = json.loads(self.succeed("bitstream", "list", "--dir", self.dir, "--json").stdout)["bitstreams"]
        self.assertEqual(len(listed), 1)
        self.assertNotEqual(listed[0]["problem"], "")


if __name__ == "__main__":
    run_tests(CliCase)
