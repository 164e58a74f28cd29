# SPDX-License-Identifier: Apache-2.0
"""`headrace quantize` from outside: what it writes, interrupt and resume, the accuracy check, what it refuses.

Usage: quantize_test.py HEADRACE_BINARY [unittest options]
"""
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import time

from command_case import CommandCase, run_tests, small_classifier
from ir_text import ODD_FOLDERS, IrText, read_npy_f32, write_npy, write_png

SHAPE = (1, 3, 16, 16)
COUNT = 3 * 16 * 16


def pixels(seed):
    return [math.sin(0.37 * i * (seed + 1)) + 0.3 * math.cos(i + seed) for i in range(COUNT)]


def clipped_classifier(path):
    """Two matrix products; the first one's data have a few large values that tell the classes."""
    net = IrText("clipped")
    x = net.parameter("x", (1, 4))
    first = net.constant("a", (4, 4), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    t = net.add("one", "MatMul", [x, first], (1, 4), transpose_a="false", transpose_b="false")
    t = net.add("bounded", "Clamp", [t], (1, 4), min="-1", max="1")
    second = net.constant("b", (4, 2), [1, 0, 0, 1, 0.5, 0, 0, 0.5])
    net.result(net.add("two", "MatMul", [t, second], (1, 2), transpose_a="false", transpose_b="false"))
    return net.write(path)


class QuantizeCase(CommandCase):
    def setUp(self):
        super().setUp()
        self.model = small_classifier(self.dir / "m.xml")
        self.out = self.dir / "q.xml"
        self.state = self.dir / "q.xml.calibration"

    def write_samples(self, count, folder="data"):
        (self.dir / folder).mkdir()
        for i in range(count):
            write_npy(self.dir / folder / f"s{i}.npy", SHAPE, pixels(i))
        return self.dir / folder

    def quantize(self, *arguments, model=None):
        done = self.succeed("quantize", model or self.model, "-o", self.out, "--json", *arguments)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def run_net(self, model, values, shape=SHAPE):
        write_npy(self.dir / "in.npy", shape, values)
        done = self.succeed("run", model, "-d", "CPU", "-i", self.dir / "in.npy", "-o", self.dir / "out", "--json")
        (output,) = json.loads(done.stdout)["outputs"].values()
        return read_npy_f32(self.dir / "out" / output["file"])


class QuantizeTest(QuantizeCase):
    def test_the_written_network_is_near_the_one_in_floats(self):
        data = self.write_samples(8)
        wanted = [self.run_net(self.model, pixels(seed)) for seed in (0, 5)]
        for options in ((), ("--preset", "performance"), ("--method", "mse"), ("--method", "percentile"),
                        ("--method", "percentile", "--percentile", "99.9"), ("--no-bias-correction",)):
            with self.subTest(options=options):
                report = self.quantize("--data", data, *options)
                self.assertEqual([layer["name"] for layer in report["layers"]], ["one", "two", "scores"])
                self.assertEqual((report["samples"], report["resumed"], report["kept"]), (8, 0, []))
                for seed, expected in zip((0, 5), wanted):
                    actual = self.run_net(self.out, pixels(seed))
                    self.assertLess(max(abs(a - b) for a, b in zip(expected, actual)), 0.05)
        text = self.out.read_text(encoding="utf-8")
        self.assertEqual(len(re.findall('type="FakeQuantize"', text)), 3)
        self.assertIn('element_type="i8" shape="8, 3, 3, 3"', text.replace(",", ", ").replace(",  ", ", "))
        self.assertLess(self.out.with_suffix(".bin").stat().st_size, 0.5 * self.model.with_suffix(".bin").stat().st_size)
        self.assertEqual([p.name for p in self.dir.iterdir() if ".tmp" in p.name or "calibration" in p.name], [])

    def test_the_range_is_the_data_s(self):
        report = self.quantize("--data", self.write_samples(3))
        values = [value for seed in range(3) for value in pixels(seed)]
        layer = report["layers"][0]
        step = (layer["high"] - layer["low"]) / 255
        self.assertAlmostEqual(layer["low"], min(values), delta=step)
        self.assertAlmostEqual(layer["high"], max(values), delta=step)
        self.assertEqual(report["layers"][1]["low"], 0.0)  # behind a ReLU

    def test_data_come_as_stacks_lists_and_folders(self):
        write_npy(self.dir / "stack.npy", (5, 3, 16, 16), [v for i in range(5) for v in pixels(i)])
        write_npy(self.dir / "rows.npy", (2, 1, 3, 16, 16), [v for i in range(2) for v in pixels(i)])
        folder = self.write_samples(5)
        (folder / "notes.txt").write_text("no sample")
        names = self.dir / "list.txt"
        names.write_text("# samples\n\n" + "".join(f"data/s{i}.npy\n" for i in range(5)))
        expected = self.quantize("--data", folder)["layers"]
        for data in (self.dir / "stack.npy", names):
            report = self.quantize("--data", data)
            self.assertEqual((report["samples"], report["layers"]), (5, expected))
        self.assertEqual(self.quantize("--data", names, "--data", self.dir / "rows.npy")["samples"], 7)
        self.assertEqual(self.quantize("--data", f"x={folder}", "--subset", "2")["samples"], 2)
        for odd in ODD_FOLDERS:
            self.write_samples(1, odd)
            self.assertEqual(self.quantize("--data", self.dir / odd)["samples"], 1)

    def test_several_inputs(self):
        net = IrText("two")
        x, y = net.parameter("x", (1, 4)), net.parameter("y", (1, 4))
        matrix = net.constant("a", (4, 4), [0.1 * i for i in range(16)])
        t = net.add("m", "MatMul", [net.add("s", "Add", [x, y], (1, 4)), matrix], (1, 4), transpose_a="false",
                    transpose_b="false")
        net.result(t)
        model = net.write(self.dir / "two.xml")
        for name, rows in (("x", 3), ("y", 3), ("z", 2)):
            write_npy(self.dir / f"{name}.npy", (rows, 4), [0.1 * i for i in range(4 * rows)])
        report = self.quantize("--data", f"x={self.dir}/x.npy", "--data", f"y={self.dir}/y.npy", model=model)
        self.assertEqual(report["samples"], 3)
        line = self.fail_with(1, "quantize", model, "-o", self.out, "--data", self.dir / "x.npy")
        self.assertIn("2 inputs", line)
        line = self.fail_with(1, "quantize", model, "-o", self.out, "--data", f"x={self.dir}/x.npy", "--data",
                              f"y={self.dir}/z.npy")
        self.assertIn("3 samples for input 'x', 2 for 'y'", line)
        line = self.fail_with(1, "quantize", model, "-o", self.out, "--data", f"x={self.dir}/x.npy")
        self.assertIn("no samples for input 'y'", line)

    def test_ignored_layers_stay_in_floats(self):
        data = self.write_samples(2)
        report = self.quantize("--data", data, "--ignore", "two", "--ignore-type", "MatMul")
        self.assertEqual([layer["name"] for layer in report["layers"]], ["one"])
        self.assertEqual({k["name"]: k["reason"] for k in report["kept"]},
                         {"two": "it is ignored by name", "scores": "its type is ignored"})
        self.assertIn("'three'", self.fail_with(1, "quantize", self.model, "-o", self.out, "--data", data, "--ignore", "three"))

    def test_pre_processing_is_baked_in(self):
        write_npy(self.dir / "p.npy", (1, 16, 16, 3), [float(i % 256) for i in range(COUNT)])
        report = self.quantize("--data", self.dir / "p.npy", "--mean", "127.5", "--scale", "127.5", "--layout", "x(nchw->nhwc)")
        layer = report["layers"][0]
        self.assertLess(layer["low"], 0)
        self.assertAlmostEqual(layer["low"] / layer["high"], -1.0, delta=0.02)
        values = [(i % 256 - 127.5) / 127.5 for i in range(COUNT)]
        expected = self.run_net(self.model, [values[3 * i + c] for c in range(3) for i in range(256)])
        actual = self.run_net(self.out, [float(i % 256) for i in range(COUNT)], (1, 16, 16, 3))
        self.assertLess(max(abs(a - b) for a, b in zip(expected, actual)), 0.05)

    def test_open_batch(self):
        model = self.dir / "open.xml"
        self.succeed("convert", self.model, "-o", model, "--input-shape", "[?,3,16,16]")
        write_npy(self.dir / "batch.npy", (4, 3, 16, 16), [v for i in range(4) for v in pixels(i)])
        report = self.quantize("--data", self.dir / "batch.npy", model=model)
        self.assertEqual((report["samples"], len(report["layers"])), (1, 3))
        self.assertIn('shape="?,3,16,16"', self.out.read_text(encoding="utf-8"))
        self.assertEqual(len(self.run_net(self.out, pixels(0) + pixels(1), (2, 3, 16, 16))), 20)

    def test_pictures(self):
        if not (pathlib.Path(self.BINARY).parent / "headrace-pictures").exists():
            self.skipTest("built without samples")
        (self.dir / "pictures").mkdir()
        rows = [bytes((x * 8 + y + c * 80) % 256 for x in range(20) for c in range(3)) for y in range(20)]
        write_png(self.dir / "pictures/a.png", 20, 20, 2, 8, rows)
        report = self.quantize("--data", self.dir / "pictures")
        self.assertGreater(report["layers"][0]["high"], 200)
        (self.dir / "m.json").write_text(json.dumps({"mean": [128] * 3, "scale": [128] * 3}))
        report = self.quantize("--data", self.dir / "pictures")
        self.assertLess(report["layers"][0]["high"], 1.01)
        report = self.quantize("--data", self.dir / "pictures", "--mean", "128")
        self.assertGreater(report["layers"][0]["high"], 100)  # the JSON is not used beside --mean
        (self.dir / "pictures/b.png").write_bytes((self.dir / "pictures/a.png").read_bytes()[:300])
        self.assertIn("b.png", self.fail_with(1, "quantize", self.model, "-o", self.out, "--data", self.dir / "pictures"))


class ResumeTest(QuantizeCase):
    SAMPLES = 800

    def setUp(self):
        super().setUp()
        self.write_samples(3)
        self.list = self.dir / "list.txt"
        self.list.write_text("".join(f"data/s{i % 3}.npy\n" for i in range(self.SAMPLES)))
        self.options = ("--data", self.list, "--subset", str(self.SAMPLES))

    def interrupt(self):
        """Returns the error line of a run that is interrupted as soon as it can be."""
        command = [self.BINARY, "quantize", self.model, "-o", self.out, *self.options]
        with subprocess.Popen([str(c) for c in command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                              env={**os.environ, **self.environment}) as process:
            status = pathlib.Path(f"/proc/{process.pid}/status")
            while int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16) >> (signal.SIGINT - 1) & 1 == 0:
                time.sleep(0.01)
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            error = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 1, error)
        self.assertEqual(len(error.splitlines()), 1, error)
        return error

    def test_goes_on_after_an_interrupt(self):
        error = self.interrupt()
        done = int(re.search(rf"interrupted in the runs for ranges after (\d+) of {self.SAMPLES} samples", error)[1])
        self.assertIn(str(self.state), error)
        self.assertTrue(self.state.exists())
        self.assertFalse(self.out.exists())
        report = self.quantize(*self.options)
        self.assertEqual((report["samples"], report["resumed"]), (self.SAMPLES, done))
        self.assertFalse(self.state.exists())
        resumed = self.out.read_bytes() + self.out.with_suffix(".bin").read_bytes()
        self.assertEqual(self.quantize(*self.options)["resumed"], 0)
        self.assertEqual(self.out.read_bytes() + self.out.with_suffix(".bin").read_bytes(), resumed)

    def test_statistics_that_do_not_belong_are_left_aside(self):
        self.interrupt()
        good = self.state.read_bytes()
        short = ("--data", self.dir / "data")
        self.assertEqual(self.quantize(*short)["resumed"], 0)  # other data
        for bad in (b"", b"x" * 100, good[: len(good) // 2], good[:-1], good[:-5] + b"12345"):
            self.state.write_bytes(bad)
            done = self.succeed("quantize", self.model, "-o", self.out, *short)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("headrace: warning: the statistics in "), done.stderr)
            self.assertIn(str(self.state), done.stderr)


class AccuracyTest(QuantizeCase):
    def test_agreement_is_measured(self):
        report = self.quantize("--data", self.write_samples(8), "--accuracy-check", "--max-drop", "0.5")
        accuracy = report["accuracy"]
        self.assertEqual((accuracy["measure"], accuracy["float"], accuracy["put_back"]), ("top-1 agreement", 1.0, []))
        self.assertEqual([trial["put_back"] for trial in accuracy["trials"]], [0])

    def make_outlier(self):
        """One sample has huge values in the first layer, for whose sake all others would lose their digits there."""
        rows = []
        for i in range(40):
            small = [0.01 * math.sin(i + k) for k in range(4)]
            small[i % 2] += 0.05
            rows += small
        write_npy(self.dir / "rows.npy", (41, 4), rows + [1000.0, -900.0, 0.0, 0.0])
        return clipped_classifier(self.dir / "c.xml")

    def test_layers_are_put_back_until_the_drop_is_small(self):
        model = self.make_outlier()
        arguments = ("--data", self.dir / "rows.npy", "--accuracy-check", "--max-drop")
        plain = self.quantize(*arguments, "1", model=model)["accuracy"]
        self.assertEqual(plain["put_back"], [])
        self.assertGreater(plain["drop"], 0.3)
        report = self.quantize(*arguments, "0.05", model=model)
        self.assertEqual(report["accuracy"]["put_back"], ["one"])
        self.assertLessEqual(report["accuracy"]["drop"], 0.05)
        self.assertEqual([(t["put_back"], t["drop"] <= 0.05) for t in report["accuracy"]["trials"]], [(0, False), (1, True)])
        self.assertEqual([layer["name"] for layer in report["layers"]], ["two"])
        self.assertEqual(report["kept"], [{"name": "one", "type": "MatMul", "reason": "put back for accuracy"}])
        self.assertEqual(self.out.read_text(encoding="utf-8").count('type="FakeQuantize"'), 1)

    def test_no_layer_can_stay(self):
        model = self.make_outlier()
        line = self.fail_with(1, "quantize", model, "-o", self.out, "--data", self.dir / "rows.npy", "--ignore", "two",
                              "--accuracy-check", "--max-drop", "0")
        self.assertIn("no layer can stay quantized", line)
        self.assertFalse(self.out.exists())

    def test_what_is_no_classifier_has_a_relative_error(self):
        net = IrText("plain")
        x = net.parameter("x", (1, 3, 4, 4))
        weights = net.constant("w", (5, 3, 1, 1), [math.sin(i) for i in range(15)])
        net.result(net.add("y", "Convolution", [x, weights], (1, 5, 4, 4), strides="1,1", dilations="1,1",
                           pads_begin="0,0", pads_end="0,0"))
        write_npy(self.dir / "v.npy", (3, 3, 4, 4), [math.cos(i) for i in range(144)])
        arguments = ("--data", self.dir / "v.npy", "--accuracy-check")
        accuracy = self.quantize(*arguments, "--max-drop", "0.1", model=net.write(self.dir / "p.xml"))["accuracy"]
        self.assertEqual(accuracy["measure"], "relative error")
        self.assertTrue(1e-4 < accuracy["drop"] < 0.02, accuracy)
        line = self.fail_with(1, "quantize", self.dir / "p.xml", "-o", self.out, *arguments, "--max-drop", "1e-5")
        self.assertIn("no layer can stay quantized", line)

    def test_labels_tell_what_is_right(self):
        data = self.write_samples(4)
        right = [max(range(10), key=self.run_net(self.model, pixels(i)).__getitem__) for i in range(4)]
        labels = self.dir / "labels.txt"
        labels.write_text("\n".join(str(c) for c in right[:3] + [(right[3] + 1) % 10]) + "\n")
        arguments = ("--data", data, "--accuracy-check", "--max-drop", "1")
        accuracy = self.quantize(*arguments, "--labels", labels)["accuracy"]
        self.assertEqual((accuracy["measure"], accuracy["float"]), ("top-1", 0.75))
        names = self.dir / "list.txt"
        names.write_text("".join(f"data/s{i}.npy {label}\n" for i, label in enumerate(right)))
        accuracy = self.quantize("--data", names, *arguments[2:])["accuracy"]
        self.assertEqual((accuracy["measure"], accuracy["float"]), ("top-1", 1.0))
        labels.write_text("1\n2\n")
        self.assertIn("2 labels", self.fail_with(1, "quantize", self.model, "-o", self.out, *arguments, "--labels", labels))
        labels.write_text("1\ncat\n")
        self.assertIn("'cat'", self.fail_with(1, "quantize", self.model, "-o", self.out, *arguments, "--labels", labels))


class RefusalTest(QuantizeCase):
    def refuse(self, *arguments, model=None):
        line = self.fail_with(1, "quantize", model or self.model, "-o", self.out, *arguments)
        self.assertFalse(self.out.exists())
        return line

    def test_data_that_are_none(self):
        (self.dir / "empty").mkdir()
        self.assertIn("holds no .npy files", self.refuse("--data", self.dir / "empty"))
        self.assertIn("absent", self.refuse("--data", self.dir / "absent"))
        (self.dir / "list").write_text("# nothing\n")
        self.assertIn("no samples", self.refuse("--data", self.dir / "list"))
        (self.dir / "list").write_text("gone.npy\n")
        self.assertIn("list:1", self.refuse("--data", self.dir / "list"))
        (self.dir / "binary").write_bytes(bytes(range(256)))
        self.assertIn("binary", self.refuse("--data", self.dir / "binary"))
        write_npy(self.dir / "odd.npy", (1, 3, 15, 16), [0.0] * 720)
        line = self.refuse("--data", self.dir / "odd.npy")
        self.assertIn("odd.npy", line)
        self.assertIn("[1,3,16,16]", line)
        write_npy(self.dir / "none.npy", (0, 3, 16, 16), [])
        self.assertIn("none.npy", self.refuse("--data", self.dir / "none.npy"))
        write_npy(self.dir / "ints.npy", SHAPE, [1] * COUNT, "<i4", "i")
        self.assertIn("ints.npy", self.refuse("--data", self.dir / "ints.npy"))

    def test_data_with_nan_are_named(self):
        data = self.write_samples(3)
        for bad in (math.nan, math.inf):
            values = pixels(1)
            values[77] = bad
            write_npy(data / "s1.npy", SHAPE, values)
            self.assertIn("s1.npy' holds NaN or infinite values for input 'x'", self.refuse("--data", data))

    def test_networks_that_cannot_be_quantized(self):
        data = self.write_samples(1)
        net = IrText()
        net.result(net.add("y", "ReLU", [net.parameter("x", SHAPE)], SHAPE))
        self.assertIn("no Convolution", self.refuse("--data", data, model=net.write(self.dir / "relu.xml")))
        self.assertIn("no Convolution", self.refuse("--data", data, "--ignore-type", "Convolution", "--ignore-type", "MatMul"))
        self.quantize("--data", data)
        again = self.dir / "again.xml"
        line = self.fail_with(1, "quantize", self.out, "-o", again, "--data", data)
        self.assertIn("quantized already", line)
        self.assertFalse(again.exists())

    def test_values_that_are_no_numbers_inside_leave_their_layers_in_floats(self):
        net = IrText("holes")
        x = net.parameter("x", (1, 4))
        root = net.add("root", "Sqrt", [x], (1, 4))
        matrix = net.constant("a", (4, 4), [0.1 * i for i in range(16)])
        bad = net.add("bad", "MatMul", [root, matrix], (1, 4), transpose_a="false", transpose_b="false")
        good = net.add("good", "MatMul", [x, matrix], (1, 4), transpose_a="false", transpose_b="true")
        net.result(bad)
        net.result(good)
        write_npy(self.dir / "v.npy", (1, 4), [1, -1, 2, 3])
        report = self.quantize("--data", self.dir / "v.npy", model=net.write(self.dir / "h.xml"))
        self.assertEqual([layer["name"] for layer in report["layers"]], ["good"])
        self.assertEqual(report["kept"], [{"name": "bad", "type": "MatMul", "reason": "its data hold NaN or infinite values"}])

    def test_wrong_usage_is_exit_2(self):
        data = self.write_samples(1)
        for arguments in ((), ("--data",), ("--data", data, "--method", "best"), ("--data", data, "--preset", "fast"),
                          ("--data", data, "--percentile", "99"), ("--data", data, "--method", "percentile", "--percentile", "20"),
                          ("--data", data, "--max-drop", "0.1"), ("--data", data, "--subset", "0"),
                          ("--data", data, "--labels", "l.txt")):
            with self.subTest(arguments=arguments):
                self.fail_with(2, "quantize", self.model, "-o", self.out, *arguments)
        self.fail_with(2, "quantize", self.model, "--data", data)
        self.assertIn(".xml", self.fail_with(1, "quantize", self.model, "-o", self.dir / "q.onnx", "--data", data))


if __name__ == "__main__":
    run_tests(CommandCase)
