# SPDX-License-Identifier: Apache-2.0
"""`headrace convert` from outside: what it writes, what it says, what it refuses.

Usage: convert_test.py HEADRACE_BINARY [unittest options]
"""
import json
import math
import re

from command_case import CommandCase, run_tests, small_classifier
from ir_text import ODD_FOLDERS, IrText, read_npy_f32, write_npy


def picture_net(path, shape=(1, 3, 1, 1)):
    """Passes pictures on, negative values included."""
    net = IrText()
    net.result(net.add("y", "Add", [net.parameter("x", shape), net.constant("zero", (), [0.0])], shape))
    return net.write(path)


class ConvertTest(CommandCase):
    def run_net(self, model, shape, values, output="y"):
        write_npy(self.dir / "in.npy", shape, values)
        self.succeed("run", model, "-d", "CPU", "-i", self.dir / "in.npy", "-o", self.dir / "out")
        return read_npy_f32(self.dir / f"out/{output}.npy")

    def assert_close(self, actual, expected, tolerance=1e-5):
        self.assertEqual(len(actual), len(expected))
        for a, b in zip(actual, expected):
            self.assertLessEqual(abs(a - b), tolerance * max(1.0, abs(b)))

    def test_the_written_network_computes_the_same(self):
        model = small_classifier(self.dir / "m.xml")
        pixels = [math.sin(i) for i in range(3 * 16 * 16)]
        expected = self.run_net(model, (1, 3, 16, 16), pixels)
        for options, tolerance in (((), 1e-5), (("--compress-to-fp16",), 2e-3)):
            document = json.loads(self.succeed("convert", model, "-o", self.dir / "o.xml", "--json", *options).stdout)
            self.assert_close(self.run_net(self.dir / "o.xml", (1, 3, 16, 16), pixels), expected, tolerance)
            self.assertEqual(document["before"]["layers"], 12)
            self.assertEqual(document["after"]["layers"], 10)
            fused = [c for p in document["passes"] for c in p["changes"] if c["kind"] == "fused"]
            self.assertEqual(sorted(c["layer"] for c in fused), ["one/scale", "two/scale"])
            self.assertEqual(sorted(c["into"] for c in fused), ["one", "two"])
        half = (self.dir / "o.bin").stat().st_size
        self.succeed("convert", model, "-o", self.dir / "p.xml")
        self.assertLess(half, 0.6 * (self.dir / "p.bin").stat().st_size)
        self.assertEqual([p.name for p in self.dir.iterdir() if ".tmp" in p.name], [])

    def test_a_model_can_be_written_over_itself(self):
        model = small_classifier(self.dir / "m.xml")
        pixels = [math.cos(i) for i in range(3 * 16 * 16)]
        expected = self.run_net(model, (1, 3, 16, 16), pixels)
        self.succeed("convert", model, "-o", model)
        self.assert_close(self.run_net(model, (1, 3, 16, 16), pixels), expected)

    def test_mean_scale_and_channel_order(self):
        mean, scale = "123.675,116.28,103.53", "58.395,57.12,57.375"
        right = [2.248908, -2.035714, 0.426492]
        for shape in ((1, 3, 1, 1), (1, 1, 1, 3)):
            model = picture_net(self.dir / "m.xml", shape)
            out = self.dir / "o.xml"
            self.succeed("convert", model, "-o", out, "--mean", mean, "--scale", f"x[{scale}]")
            self.assert_close(self.run_net(out, shape, (255, 0, 128)), right)
            self.succeed("convert", model, "-o", out, "--mean", f"[{mean}]", "--scale", scale, "--reverse-input-channels")
            self.assert_close(self.run_net(out, shape, (128, 0, 255)), right)
            self.succeed("convert", model, "-o", out, "--mean=-1", "--scale", "2")
            self.assert_close(self.run_net(out, shape, (1, -1, 3)), [1, 0, 2])

    def test_layouts_batches_shapes_and_outputs(self):
        model = small_classifier(self.dir / "m.xml")
        out = self.dir / "o.xml"
        pixels = [math.sin(i) for i in range(3 * 16 * 16)]
        expected = self.run_net(model, (1, 3, 16, 16), pixels)
        turned = [pixels[c * 256 + i] for i in range(256) for c in range(3)]
        self.succeed("convert", model, "-o", out, "--layout", "x(nchw->nhwc)")
        self.assert_close(self.run_net(out, (1, 16, 16, 3), turned), expected)
        self.assertIn('layout="[N,H,W,C]"', out.read_text(encoding="utf-8"))
        self.succeed("convert", model, "-o", out, "--batch", "2", "--layout", "nchw")
        self.assert_close(self.run_net(out, (2, 3, 16, 16), pixels + pixels), expected + expected)
        self.succeed("convert", model, "-o", out, "--input-shape", "x[3,3,16,16]")
        self.assert_close(self.run_net(out, (3, 3, 16, 16), pixels * 3), expected * 3)
        self.succeed("convert", model, "-o", out, "--input-shape", "[?,3,16,16]")
        self.assertIn('shape="?,3,16,16"', out.read_text(encoding="utf-8"))
        document = json.loads(self.succeed("convert", model, "-o", out, "--output", "one/relu", "--output", "y",
                                           "--json").stdout)
        self.assertEqual([o["name"] for o in document["outputs"]], ["one/relu", "y"])
        self.assert_close(self.run_net(out, (1, 3, 16, 16), pixels), expected)

    def test_reports_hold_the_same_figures(self):
        model = small_classifier(self.dir / "m.xml")
        self.succeed("convert", model, "-o", self.dir / "o.xml", "--report", self.dir / "r.json", "--mean", "1,2,3")
        report = json.loads((self.dir / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(report["after"]["parameters"], 3 * 8 * 9 + 8 * 8 * 9 + 2 * 8 + 5120 + 3)
        self.assertGreater(report["after"]["flops"], 2 * 256 * 9 * (3 * 8 + 8 * 8))
        self.assertEqual(report["preprocessing"], ["input 'x': 1,2,3 subtracted"])
        self.succeed("convert", model, "-o", self.dir / "o.xml", "--report", self.dir / "r.html")
        page = (self.dir / "r.html").read_text(encoding="utf-8")
        self.assertIn("fold_scale", page)
        self.assertIn("one/scale", page)
        self.assertIsNone(re.search(r'(src|href)="?http|url\(', page))

    def test_names_from_a_file_cannot_break_the_page(self):
        net = IrText('<script>alert("x")</script>')
        net.result(net.add("<b>&</b>", "ReLU", [net.parameter("x", (1, 4))], (1, 4)))
        self.succeed("convert", net.write(self.dir / "m.xml"), "-o", self.dir / "o.xml", "--report", self.dir / "r.html")
        page = (self.dir / "r.html").read_text(encoding="utf-8")
        self.assertNotIn("<script", page)
        self.assertNotIn("<b>&</b>", page)

    def test_odd_folders(self):
        for name in ODD_FOLDERS:
            folder = self.dir / name
            folder.mkdir()
            self.succeed("convert", small_classifier(folder / "m.xml"), "-o", folder / "o.xml")
            self.assertTrue((folder / "o.bin").exists())

    def test_refusals_are_one_line(self):
        model = small_classifier(self.dir / "m.xml")
        out = self.dir / "o.xml"
        for arguments, parts in ((("--mean", "1,2"), ("--mean", "'x'", "[1,3,16,16]")),
                                 (("--mean", "1,two,3"), ("--mean", "'two'")),
                                 (("--mean", "1,,3"), ("--mean", "no number")),
                                 (("--scale", "1,0,1"), ("--scale", "divide")),
                                 (("--scale", "z[1,1,1]"), ("'z'", "'x'")),
                                 (("--layout", "nhwc", "--reverse-input-channels"), ("channel", "--layout")),
                                 (("--layout", "x(nhwc->)"), ("--layout",)),
                                 (("--output", "nowhere"), ("'nowhere'",)),
                                 (("--input-shape", "x[1,3]"), ("[1,3]", "[1,3,16,16]")),
                                 (("--input-shape", "x[1,3,15,15]"), ("layer 'scores'",)),
                                 (("--input-shape", "x[1,3,16,16],y[1]"), ("'y'",))):
            with self.subTest(arguments=arguments):
                line = self.fail_with(1, "convert", model, "-o", out, *arguments)
                for part in parts:
                    self.assertIn(part, line)
                self.assertFalse(out.exists())
        self.assertIn(".xml", self.fail_with(1, "convert", model, "-o", self.dir / "o.onnx"))
        self.assertIn("nofolder", self.fail_with(1, "convert", model, "-o", self.dir / "nofolder/o.xml"))
        self.assertIn("absent.xml", self.fail_with(1, "convert", self.dir / "absent.xml", "-o", out))

    def test_wrong_usage_is_exit_2(self):
        model = small_classifier(self.dir / "m.xml")
        for arguments in ((model,), (model, "-o"), (model, "-o", "o.xml", "--batch", "0"),
                          (model, "-o", "o.xml", "--report", "r.txt")):
            self.fail_with(2, "convert", *arguments)


if __name__ == "__main__":
    run_tests(CommandCase)
