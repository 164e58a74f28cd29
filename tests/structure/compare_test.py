# SPDX-License-Identifier: Apache-2.0
"""`headrace compare` from outside: agreement, the first divergence, stored runs, fused layers.

Usage: compare_test.py HEADRACE_BINARY [unittest options]
"""
import json
import math
import struct

from command_case import CommandCase, run_tests, small_classifier
from ir_text import IrText, write_npy


class CompareTest(CommandCase):
    def compare(self, *arguments):
        return json.loads(self.succeed("compare", *arguments, "--json").stdout)

    def change(self, name, index, value):
        """Puts another value into a stored tensor."""
        path = self.dir / f"run/{name}.npy"
        data = bytearray(path.read_bytes())
        start = 10 + struct.unpack("<H", data[8:10])[0]
        struct.pack_into("<f", data, start + 4 * index, value)
        path.write_bytes(data)

    def test_two_devices_agree_on_every_tensor_that_survives(self):
        model = small_classifier(self.dir / "m.xml")
        listed = json.loads(self.succeed("devices", "--json").stdout)["devices"]
        has_pocl = any("POCL" in device.get("aliases", ()) for device in listed)
        for devices in ("CPU", "HETERO:POCL,CPU") if has_pocl else ("CPU",):
            with self.subTest(devices=devices):
                document = self.compare(model, "-d", devices, "--with", "CPU")
                self.assertIsNone(document["first_divergence"])
                tensors = {t["tensor"]: t for t in document["tensors"]}
                self.assertEqual(list(tensors)[:2], ["one/relu", "two/relu"])
                self.assertEqual(tensors["one/relu"]["fused"], ["one", "one/scale", "one/shift"])
                self.assertEqual(tensors["one/relu"]["shape"], [1, 8, 16, 16])
                self.assertEqual(document["fused_otherwise"], [])
                self.assertIn("y", tensors)
                for tensor in tensors.values():
                    self.assertTrue(tensor["is_close"])
                    self.assertGreater(tensor["cosine"], 0.99999)

    def test_tensors_behind_a_shape_that_only_a_run_tells(self):
        net = IrText()
        relu = net.add("relu", "ReLU", [net.parameter("x", (6,))], (6,))
        places = net.add("places", "NonZero", [relu], (1, -1), opset=3, precision="I64", output_type="i64")
        flat = net.add("flat", "Reshape", [places, net.constant_i64("minus", [-1])], (-1,), precision="I64",
                       special_zero="false")
        net.result(net.add("picked", "Gather", [relu, flat, net.constant_i64("axis", [0])], (-1,), opset=8,
                           batch_dims="0"))
        model = net.write(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (6,), [1, -1, 2, -1, 3, -1])
        document = self.compare(model, "-d", "CPU", "--with", "CPU", "-i", self.dir / "x.npy")
        shapes = {t["tensor"]: t["shape"] for t in document["tensors"]}
        self.assertEqual(shapes, {"relu": [6], "places": [1, 3], "flat": [3], "picked": [3]})

    def test_the_first_divergence_is_named_with_what_is_fused(self):
        model = small_classifier(self.dir / "m.xml")
        self.succeed("compare", model, "-d", "CPU", "--save", self.dir / "run")
        self.assertIsNone(self.compare(model, "-d", "CPU", "--against", self.dir / "run")["first_divergence"])
        self.change("y", 3, 0.9)
        self.change("two_relu", 7, 1e3)
        line = self.fail_with(1, "compare", model, "-d", "CPU", "--against", self.dir / "run")
        self.assertIn("layer 'two/relu' (ReLU, with 'two', 'two/scale', 'two/shift')", line)
        done = self.run_program("compare", model, "-d", "CPU", "--against", self.dir / "run", "--json")
        document = json.loads(done.stdout)
        self.assertEqual(document["first_divergence"], "two/relu")
        self.assertEqual([t["tensor"] for t in document["tensors"] if not t["is_close"]], ["two/relu", "y"])
        wrong = [t for t in document["tensors"] if t["tensor"] == "two/relu"][0]
        self.assertEqual(wrong["worst"], 7)

    def test_nan_in_one_run_only_is_a_divergence(self):
        model = small_classifier(self.dir / "m.xml")
        self.succeed("compare", model, "-d", "CPU", "--save", self.dir / "run")
        self.change("one_relu", 0, math.nan)
        line = self.fail_with(1, "compare", model, "-d", "CPU", "--against", self.dir / "run", "--tolerance", "1e30")
        self.assertIn("'one/relu'", line)
        self.assertIn("NaN", line)

    def test_nan_in_both_runs_agrees(self):
        net = IrText()
        x = net.parameter("x", (1, 2))
        net.result(net.add("root", "Sqrt", [net.add("shift", "Add", [x, net.constant("c", (), [0.0])], (1, 2))], (1, 2)))
        write_npy(self.dir / "x.npy", (1, 2), (-1, 4))
        document = self.compare(net.write(self.dir / "m.xml"), "-d", "CPU", "--with", "CPU", "-i", self.dir / "x.npy")
        self.assertEqual([t["nan"] for t in document["tensors"]][-1], 1)
        self.assertIsNone(document["first_divergence"])

    def test_chunks_change_nothing(self):
        net = IrText()
        t = net.parameter("x", (1, 3, 256, 256))
        for i in range(6):
            t = net.add(f"pool{i}", "MaxPool", [t], (1, 3, 256, 256), kernel="3,3", strides="1,1", pads_begin="1,1",
                        pads_end="1,1", rounding_type="floor")
        net.result(t)
        model = net.write(self.dir / "m.xml")
        whole = self.compare(model, "-d", "CPU", "--with", "CPU")
        self.assertEqual(self.compare(model, "-d", "CPU", "--with", "CPU", "--memory", "1"), whole)
        self.assertEqual(len(whole["tensors"]), 6)

    def test_names_that_share_a_file_name_stay_apart(self):
        net = IrText()
        x = net.parameter("x", (1, 4))
        for name, value in (("a/b", 1.0), ("a_b", 5.0)):
            net.result(net.add(name, "Add", [x, net.constant(name + "c", (), [value])], (1, 4)))
        model = net.write(self.dir / "m.xml")
        self.succeed("compare", model, "-d", "CPU", "--save", self.dir / "run")
        self.assertEqual(len(list((self.dir / "run").iterdir())), 2)
        self.assertEqual(len(self.compare(model, "-d", "CPU", "--against", self.dir / "run")["tensors"]), 2)

    def test_a_run_stored_by_run_can_be_compared_with(self):
        model = small_classifier(self.dir / "m.xml")
        write_npy(self.dir / "x.npy", (1, 3, 16, 16), [math.sin(i) for i in range(768)])
        self.succeed("run", model, "-d", "CPU", "-i", self.dir / "x.npy", "-o", self.dir / "run")
        document = self.compare(model, "-d", "CPU", "-i", self.dir / "x.npy", "--against", self.dir / "run")
        self.assertEqual([t["tensor"] for t in document["tensors"]], ["y"])
        self.assertIn("one/relu", document["missing"])
        write_npy(self.dir / "run/y.npy", (1, 5), [0] * 5)
        line = self.fail_with(1, "compare", model, "-d", "CPU", "-i", self.dir / "x.npy", "--against", self.dir / "run")
        self.assertIn("shape [1,10], expected [1,5]", line)

    def test_refusals(self):
        model = small_classifier(self.dir / "m.xml")
        (self.dir / "empty").mkdir()
        for folder, part in (("absent", "no folder"), ("empty", "one_relu.npy")):
            self.assertIn(part, self.fail_with(1, "compare", model, "-d", "CPU", "--against", self.dir / folder))
        self.assertIn("NOPE", self.fail_with(1, "compare", model, "-d", "CPU", "--with", "NOPE"))
        self.assertIn("absent.npy", self.fail_with(1, "compare", model, "-d", "CPU", "--with", "CPU", "-i", "absent.npy"))
        for arguments in ((), ("-d", "CPU"), ("-d", "CPU", "--with", "CPU", "--against", "x"),
                          ("-d", "CPU", "--with", "CPU", "--tolerance", "-1")):
            self.fail_with(2, "compare", model, *arguments)


if __name__ == "__main__":
    run_tests(CommandCase)
