# SPDX-License-Identifier: Apache-2.0
"""The classification samples from outside: every kind of picture, bad pictures, channel order, labels.

The test network only reshapes, so that the printed scores are the values of its prepared input.
Usage: sample_test.py FOLDER_OF_PROGRAMS [unittest options]
"""
import base64
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from ir_text import ODD_FOLDERS, IrText, write_png

PROGRAMS = ""
# 16x16, upper half (254, 0, 0), lower half (0, 0, 254); written by Pillow, quality 30: baseline and progressive.
BASELINE_JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqm"
    "x5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAQABAD"
    "ASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABP/EABgRAAID"
    "AAAAAAAAAAAAAAAAAAAVYqHh/9oADAMBAAIRAxEAPwCAQhiqdaPZRvD/2Q==")
PROGRESSIVE_JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqm"
    "x5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wgARCAAQABAD"
    "ASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAME/8QAFAEBAAAAAAAAAAAAAAAAAAAAA//aAAwDAQACEAMQAAABzoGf/8QAFBABAAAAAAAA"
    "AAAAAAAAAAAAIP/aAAgBAQABBQIf/8QAFhEAAwAAAAAAAAAAAAAAAAAAABRh/9oACAEDAQE/AWYf/8QAFhEAAwAAAAAAAAAAAAAAAAAAABRh/9oA"
    "CAECAQE/AVaf/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/aAAgBAQAGPwIf/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/aAAgBAQABPyEf/9oADAMBAAIA"
    "AwAAABD3/8QAFxEAAwEAAAAAAAAAAAAAAAAAABHh8P/aAAgBAwEBPxDDh//EABcRAAMBAAAAAAAAAAAAAAAAAAAR4fD/2gAIAQIBAT8Q2qf/xAAU"
    "EAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAE/EB//2Q==")


def planes_net(path, shape):
    """A network whose scores are its input, flattened."""
    count = shape[1] * shape[2] * shape[3]
    net = IrText()
    x = net.parameter("image", shape)
    net.result(net.add("scores", "Reshape", [x, net.constant_i64("shape", [1, count])], (1, count), special_zero="false"))
    return net.write(path)


class SampleCase(unittest.TestCase):
    programs = ("classification_sample", "classification_sample_async")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)

    def run_sample(self, program, *arguments):
        environment = {**os.environ, "HEADRACE_CACHE_DIR": str(self.dir / "c"), "HEADRACE_STATE_DIR": str(self.dir / "s")}
        return subprocess.run([os.path.join(PROGRAMS, program), *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, env=environment, stdin=subprocess.DEVNULL)

    def scores(self, text):
        """Returns {picture: {class: score}} from a sample's output."""
        found, current = {}, None
        for line in text.splitlines():
            head = re.match(r"^(.*) \(.*ms.*\)$", line)
            row = re.match(r"^ +(\d+) +(-?[\d.]+|-?inf|nan)  ", line)
            if head:
                current = found.setdefault(pathlib.Path(head[1]).name, {})
            elif row and current is not None:
                current[int(row[1])] = float(row[2])
        return found

    def planes(self, program, shape, picture, *options):
        model = planes_net(self.dir / f"net{'x'.join(map(str, shape))}.xml", shape)
        done = self.run_sample(program, "-m", model, "-i", picture, "-nt", "1000", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        values = self.scores(done.stdout)[pathlib.Path(picture).name]
        return [values[i] for i in sorted(values)]

    def check_planes(self, shape, picture, expected, *options):
        for program in self.programs:
            with self.subTest(program=program, picture=picture, shape=shape):
                actual = self.planes(program, shape, picture, *options)
                self.assertEqual(len(actual), len(expected))
                for a, e in zip(actual, expected):
                    self.assertAlmostEqual(a, e, delta=2e-3)


class PictureTest(SampleCase):
    def test_every_kind_of_picture(self):
        rgb = bytes((255, 0, 128))
        kinds = {
            "rgb.png": (2, 8, [rgb * 2] * 2, None, (255, 0, 128), 91),
            "alpha.png": (6, 8, [(rgb + b"\0") * 2] * 2, None, (255, 0, 128), 91),
            "grey.png": (0, 8, [bytes((100, 100))] * 2, None, (100, 100, 100), 100),
            "grey_alpha.png": (4, 8, [bytes((100, 0)) * 2] * 2, None, (100, 100, 100), 100),
            "grey16.png": (0, 16, [struct.pack(">2H", 25700, 25700)] * 2, None, (100, 100, 100), 100),
            "rgb16.png": (2, 16, [struct.pack(">6H", *(65535, 0, 32896) * 2)] * 2, None, (255, 0, 128), 90.8),
            "palette.png": (3, 8, [bytes((1, 1))] * 2, (0, 0, 0, 255, 0, 128), (255, 0, 128), 91),
        }
        for name, (color, depth, rows, palette, planes, luma) in kinds.items():
            write_png(self.dir / name, 2, 2, color, depth, rows, palette)
            self.check_planes((1, 3, 2, 2), self.dir / name, [v for v in planes for _ in range(4)])
            for program in self.programs:
                for value in self.planes(program, (1, 1, 2, 2), self.dir / name):
                    self.assertAlmostEqual(value, luma, delta=0.5)

    def test_odd_sizes(self):
        write_png(self.dir / "one.png", 1, 1, 2, 8, [bytes((255, 0, 128))])
        write_png(self.dir / "long.png", 5000, 1, 2, 8, [bytes((255, 0, 128)) * 5000])
        for name in ("one.png", "long.png"):
            self.check_planes((1, 3, 2, 3), self.dir / name, [v for v in (255, 0, 128) for _ in range(6)])

    def test_resize_is_linear_with_half_pixel_centres(self):
        write_png(self.dir / "ramp.png", 4, 1, 0, 8, [bytes((0, 40, 80, 200))])
        self.check_planes((1, 1, 1, 2), self.dir / "ramp.png", [20, 140])
        self.check_planes((1, 1, 1, 3), self.dir / "ramp.png", [0.16667 * 40, 60, 80 + 0.83333 * 120])

    def test_channel_order_needs_three_channels(self):
        write_png(self.dir / "p.png", 1, 1, 2, 8, [bytes((255, 0, 128))])
        model = planes_net(self.dir / "grey.xml", (1, 1, 1, 1))
        for program in self.programs:
            done = self.run_sample(program, "-m", model, "-i", self.dir / "p.png", "--channels", "BGR")
            self.assertEqual(done.returncode, 1)
            self.assertIn("input 'image': channels BGR needs 3 channels, it has 1", done.stderr)

    def test_mean_and_scale_stay_with_their_channel(self):
        write_png(self.dir / "p.png", 1, 1, 2, 8, [bytes((255, 0, 128))])
        options = ("--mean", "123.675,116.28,103.53", "--scale", "58.395,57.12,57.375")
        planes = [2.248908, -2.035714, 0.426492]
        self.check_planes((1, 3, 1, 1), self.dir / "p.png", planes, *options)
        self.check_planes((1, 3, 1, 1), self.dir / "p.png", planes[::-1], *options, "--channels", "BGR")
        self.check_planes((1, 2, 1, 3), self.dir / "p.png", planes * 2, *options)  # NHWC

    def test_channels_last_networks(self):
        write_png(self.dir / "p.png", 2, 2, 2, 8, [bytes((255, 0, 128)) * 2] * 2)
        self.check_planes((1, 2, 2, 3), self.dir / "p.png", [255, 0, 128] * 4)
        self.check_planes((1, 2, 2, 3), self.dir / "p.png", [128, 0, 255] * 4, "--channels", "BGR")

    def test_defaults_come_from_the_file_beside_the_model(self):
        write_png(self.dir / "p.png", 1, 1, 2, 8, [bytes((255, 0, 128))])
        beside = self.dir / "net1x3x1x1.json"
        beside.write_text('{"channels": "BGR", "mean": [127, 127, 127], "scale": [128, 64, 128]}')
        self.check_planes((1, 3, 1, 1), self.dir / "p.png", [1 / 128, -127 / 64, 1])
        self.check_planes((1, 3, 1, 1), self.dir / "p.png", [1 / 128, -127 / 64, 1][::-1], "--channels", "RGB")
        for bad in ("[]", "{", '{"mean": [1, 2]}', '{"scale": [1, 0, 1]}', '{"channels": "GRB"}', '{"mean": "x"}'):
            beside.write_text(bad)
            done = self.run_sample("classification_sample", "-m", self.dir / "net1x3x1x1.xml", "-i", self.dir / "p.png")
            self.assertEqual(done.returncode, 1)
            self.assertIn("net1x3x1x1.json", done.stderr)


class BadPictureTest(SampleCase):
    def check(self, pictures, bad):
        """Runs all pictures; the bad ones are named in one error line each, the others give what they give alone."""
        model = planes_net(self.dir / "net.xml", (1, 3, 2, 2))
        for program in self.programs:
            with self.subTest(program=program, pictures=pictures):
                done = self.run_sample(program, "-m", model, "-nt", "12", "-i", *[self.dir / name for name in pictures])
                self.assertEqual(done.returncode, 1 if bad else 0, done.stderr)
                errors = [line for line in done.stderr.splitlines() if line.startswith(f"{program}: error: ")]
                self.assertEqual(len(errors), len(bad), done.stderr)
                for name in bad:
                    self.assertTrue(any(f"{name}'" in line for line in errors), done.stderr)
                scores = self.scores(done.stdout)
                self.assertEqual(set(scores), set(pictures) - set(bad))
                for name, values in scores.items():
                    self.assertEqual(values, self.good[name])

    def test_cut_and_foreign_files(self):
        write_png(self.dir / "good.png", 2, 2, 2, 8, [bytes((255, 0, 128)) * 2] * 2)
        write_png(self.dir / "other.png", 2, 2, 2, 8, [bytes((1, 2, 3)) * 2] * 2)
        self.good = {"good.png": dict(enumerate([255.0] * 4 + [0.0] * 4 + [128.0] * 4)),
                     "other.png": dict(enumerate([1.0] * 4 + [2.0] * 4 + [3.0] * 4))}
        png = (self.dir / "good.png").read_bytes()
        files = {"empty.jpg": b"", "text.jpg": b"this is no picture\n", "cut.png": png[:-20], "head.png": png[:33]}
        for kind, jpeg in (("base", BASELINE_JPEG), ("prog", PROGRESSIVE_JPEG)):
            files[f"{kind}_60.jpg"] = jpeg[:len(jpeg) * 6 // 10]
            files[f"{kind}_frame.jpg"] = jpeg[:jpeg.index(b"\xff\xc0" if kind == "base" else b"\xff\xc2") + 19]
            files[f"{kind}_end.jpg"] = jpeg[:-2]
        for name, content in files.items():
            (self.dir / name).write_bytes(content)
            self.check(["good.png", name], [name])
            self.check(["other.png", name, "good.png"], [name])
        self.check(["good.png", "absent.png"], ["absent.png"])
        self.check(["other.png", "good.png"], [])

    def test_whole_jpegs_are_read(self):
        for name, jpeg in (("base.jpg", BASELINE_JPEG), ("prog.jpg", PROGRESSIVE_JPEG)):
            (self.dir / name).write_bytes(jpeg + b"trailing bytes")
            for program in self.programs:
                red = self.planes(program, (1, 3, 2, 1), self.dir / name)
                for value, expected in zip(red, (254, 0, 0, 0, 0, 254)):
                    self.assertAlmostEqual(value, expected, delta=16)  # quality 30 rings


class OptionTest(SampleCase):
    def test_folders_labels_and_top(self):
        folder = self.dir / "some pictures"
        folder.mkdir()
        for value, name in ((10, "b.png"), (20, "a.png")):
            write_png(folder / name, 1, 1, 2, 8, [bytes((value, value + 1, value + 2))])
        (self.dir / "labels.txt").write_bytes("rot\r\ngrün\r\nblau\r\n".encode())
        model = planes_net(self.dir / "net.xml", (1, 3, 1, 1))
        for program in self.programs:
            done = self.run_sample(program, "-m", model, "-i", folder, "-l", self.dir / "labels.txt", "-nt", "1", "-pc")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.scores(done.stdout), {"a.png": {2: 22.0}, "b.png": {2: 12.0}})
            self.assertLess(done.stdout.index("a.png"), done.stdout.index("b.png"))
            self.assertIn("  blau\n", done.stdout)
            self.assertIn("TIME us", done.stdout)

    def test_exit_codes(self):
        model = planes_net(self.dir / "net.xml", (1, 3, 1, 1))
        write_png(self.dir / "p.png", 1, 1, 2, 8, [bytes((1, 2, 3))])
        odd = planes_net(self.dir / "odd.xml", (1, 5, 2, 2))
        for program in self.programs:
            for arguments, code in (((), 2), (("-m", model), 2), (("-m", model, "-i", self.dir / "p.png", "-nt", "0"), 2),
                                    (("-h",), 0), (("-m", self.dir / "no.xml", "-i", self.dir / "p.png"), 1),
                                    (("-m", model, "-i", self.dir / "p.png", "-d", "HETERO:"), 1),
                                    (("-m", model, "-i", self.dir / "p.png", "-l", self.dir / "no.txt"), 1),
                                    (("-m", odd, "-i", self.dir / "p.png"), 1)):
                done = self.run_sample(program, *arguments)
                self.assertEqual(done.returncode, code, f"{arguments} {done.stderr}")
                self.assertEqual(done.stderr.count(": error: "), 0 if code == 0 else 1, done.stderr)

    def test_a_layer_that_fails_ends_the_sample(self):
        """Red values are indices into a table of two: 1 is there, 9 is not."""
        net = IrText()
        x = net.parameter("image", (1, 3, 1, 1))
        index = net.add("index", "Convert", [x], (1, 3, 1, 1), precision="I64", destination_type="i64")
        table = net.constant("table", (2,), (0.25, 0.75))
        row = net.add("row", "Gather", [table, index, net.constant_i64("axis", [0])], (1, 3, 1, 1), opset=8, batch_dims=0)
        flat = net.add("scores", "Reshape", [row, net.constant_i64("shape", [1, 3])], (1, 3), special_zero="false")
        net.result(flat)
        model = net.write(self.dir / "net.xml")
        for name, value in (("good.png", 1), ("bad.png", 9)):
            write_png(self.dir / name, 1, 1, 2, 8, [bytes((value, 0, 1))])
        for program in self.programs:
            done = self.run_sample(program, "-m", model, "-i", self.dir / "good.png", "-d", "CPU")
            self.assertEqual(self.scores(done.stdout), {"good.png": {0: 0.75, 1: 0.25, 2: 0.75}}, done.stderr)
            done = self.run_sample(program, "-m", model, "-d", "CPU", "-i", self.dir / "good.png", self.dir / "bad.png")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertEqual(done.stderr.count(": error: "), 1, done.stderr)
            self.assertIn("'row'", done.stderr)

    def test_odd_folders_of_pictures_and_labels(self):
        for name in ODD_FOLDERS:
            with self.subTest(folder=name):
                folder = self.dir / name
                pictures = folder / name
                pictures.mkdir(parents=True)
                write_png(pictures / f"{name}.png", 1, 1, 2, 8, [bytes((1, 2, 3))])
                (folder / f"{name}.txt").write_text("a\nb\nc\n")
                model = planes_net(folder / f"{name}.xml", (1, 3, 1, 1))
                for program in self.programs:
                    for given in (pictures, pictures / f"{name}.png"):
                        done = self.run_sample(program, "-m", model, "-i", given, "-l", folder / f"{name}.txt", "-nt", "1")
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        self.assertEqual(self.scores(done.stdout), {f"{name}.png": {2: 3.0}})

    def test_many_requests_and_runs(self):
        names = []
        for value in range(9):
            names.append(self.dir / f"{value}.png")
            write_png(names[-1], 1, 1, 2, 8, [bytes((value, 100 + value, 200))])
        model = planes_net(self.dir / "net.xml", (1, 3, 1, 1))
        for requests in (1, 2, 4, 20):
            done = self.run_sample("classification_sample_async", "-m", model, "-nireq", requests, "-niter", "5", "-i", *names)
            self.assertEqual(done.returncode, 0, done.stderr)
            for value in range(9):
                self.assertEqual(self.scores(done.stdout)[f"{value}.png"], {0: value, 1: 100 + value, 2: 200})


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    unittest.main()
