# SPDX-License-Identifier: Apache-2.0
"""`headrace show` from outside: figures, pictures, hostile names.

Usage: show_test.py HEADRACE_BINARY [unittest options]
"""
import json
import os
import re
import xml.etree.ElementTree as ElementTree

from command_case import CommandCase, run_tests, small_classifier
from ir_text import IrText

SVG = "{http://www.w3.org/2000/svg}"


class ShowTest(CommandCase):
    def show(self, *arguments):
        return json.loads(self.succeed("show", *arguments, "--json").stdout)

    def test_figures_of_a_known_network(self):
        document = self.show(small_classifier(self.dir / "m.xml"))
        layers = {layer["name"]: layer for layer in document["layers"]}
        self.assertEqual(layers["one"]["parameters"], 8 * 3 * 9)
        self.assertEqual(layers["one"]["flops"], 2 * 8 * 3 * 9 * 256)
        self.assertEqual(layers["one"]["outputs"], [{"type": "f32", "shape": "[1,8,16,16]"}])
        # x and what the convolution makes of it; then what two layers in a row pass on
        self.assertEqual(layers["one"]["live_bytes"], 4 * (3 + 8) * 256)
        self.assertEqual(layers["one/relu"]["live_bytes"], 4 * 2 * 8 * 256)
        self.assertEqual(document["peak_bytes"], 4 * 2 * 8 * 256)
        self.assertEqual(document["parameters"], 8 * 27 + 8 * 72 + 4 * 8 + 5120)
        self.assertEqual(document["flops"], sum(layer["flops"] for layer in document["layers"]))
        for layer in document["layers"]:
            for source in layer["inputs"]:
                self.assertLess(source["layer"], document["layers"].index(layer))

    def test_devices_show_what_is_fused(self):
        model = small_classifier(self.dir / "m.xml")
        document = self.show(model, "-d", "CPU")
        layers = {layer["name"]: layer for layer in document["layers"]}
        self.assertEqual(layers["one"]["device"], "CPU")
        self.assertIn("one/relu", layers["one"]["fused"])
        self.assertEqual(document["devices"], ["CPU"])
        self.assertIn("one/scale", self.succeed("show", model, "-d", "CPU").stdout)

    def test_open_shapes_are_told(self):
        net = IrText()
        net.result(net.add("y", "ReLU", [net.parameter("x", ("?", 4))], ("?", 4)))
        model = net.write(self.dir / "m.xml")
        document = self.show(model)
        self.assertIsNone(document["flops"])
        self.assertIn("--input-shape", self.succeed("show", model).stdout)
        self.assertEqual(self.show(model, "--input-shape", "x[3,4]")["peak_bytes"], 2 * 3 * 4 * 4)
        self.assertIn("'x'", self.fail_with(1, "show", model, "-d", "CPU"))

    def test_pictures_hold_every_layer(self):
        model = small_classifier(self.dir / "m.xml")
        for devices in ((), ("-d", "CPU")):
            names = [layer["name"] for layer in self.show(model, *devices)["layers"]]
            self.succeed("show", model, *devices, "--svg", self.dir / "m.svg", "--html", self.dir / "m.html")
            root = ElementTree.parse(self.dir / "m.svg").getroot()
            nodes = [g for g in root.iter(SVG + "g") if g.get("class") == "node"]
            self.assertEqual(len(nodes), len(names))
            texts = {text.text for text in root.iter(SVG + "text")}
            for name in names:
                self.assertIn(name, texts)
            page = (self.dir / "m.html").read_text(encoding="utf-8")
            self.assertIn("<svg", page)
            self.assertNotIn("<!DOCTYPE svg", page)
            self.assertIsNone(re.search(r'(src|href)="?http|url\(', page))

    def test_hostile_names(self):
        net = IrText('<script>"\\ &')
        name = '</b>"><script>\\N\\"; x [label=<' + "é" * 60
        net.result(net.add(name, "ReLU", [net.parameter("--x\\", (1, 4))], (1, 4)))
        self.succeed("show", net.write(self.dir / "m.xml"), "--svg", self.dir / "m.svg", "--html", self.dir / "m.html")
        ElementTree.parse(self.dir / "m.svg")
        self.assertNotIn("<script", (self.dir / "m.html").read_text(encoding="utf-8"))

    def test_graphviz_missing_is_one_line(self):
        model = small_classifier(self.dir / "m.xml")
        line = self.fail_with(1, "show", model, "--svg", self.dir / "m.svg", PATH="/nonexistent")
        self.assertIn("apt-get install graphviz", line)
        self.succeed("show", model, PATH="/nonexistent")

    def test_graphviz_failing_is_one_line(self):
        model = small_classifier(self.dir / "m.xml")
        fake = self.dir / "bin"
        fake.mkdir()
        (fake / "dot").write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
        (fake / "dot").chmod(0o755)
        line = self.fail_with(1, "show", model, "--svg", self.dir / "m.svg", PATH=f"{fake}:{os.environ['PATH']}")
        self.assertIn("broken", line)
        self.assertFalse((self.dir / "m.svg").exists())

    def test_wrong_usage_and_missing_files(self):
        self.fail_with(2, "show")
        self.assertIn("absent", self.fail_with(1, "show", self.dir / "absent.xml"))
        model = small_classifier(self.dir / "m.xml")
        self.assertIn("nofolder", self.fail_with(1, "show", model, "--svg", self.dir / "nofolder/m.svg"))


if __name__ == "__main__":
    run_tests(CommandCase)
