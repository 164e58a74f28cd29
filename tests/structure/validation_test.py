# SPDX-License-Identifier: Apache-2.0
"""validation_app from outside: counts known by construction, bad lines and pictures, ties, the background class.

The networks pass their input on, so a picture's pixels are the scores, or the rows of detections.
Usage: validation_test.py VALIDATION_APP_BINARY [unittest options]
"""
import re
import struct

from command_case import CommandCase, run_tests
from ir_text import ODD_FOLDERS, IrText, write_png


def scores_net(path, classes):
    """[1,1,1,classes] -> [1,classes]: the scores are the pixels of a picture of one row."""
    net = IrText()
    x = net.parameter("image", (1, 1, 1, classes))
    net.result(net.add("scores", "Reshape", [x, net.constant_i64("shape", [1, classes])], (1, classes),
                       special_zero="false"))
    return net.write(path)


def row(classes, bright):
    """Grey levels by class; others are 0."""
    pixels = [0] * classes
    for index, level in bright.items():
        pixels[index] = level
    return pixels


def write_row(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_png(path, len(pixels), 1, 0, 8, [bytes(pixels)])
    return path


class ValidationCase(CommandCase):
    PROGRAM = "validation_app"

    def figures(self, *arguments, code=0):
        """Returns (counted, top1, top5) or (counted, mAP, 11 points), and stderr."""
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        counted = int(re.search(r"^pictures +(\d+)", done.stdout, re.M)[1])
        tops = re.findall(r"^top-[15] +.*\((\d+)\)$", done.stdout, re.M)
        if tops:
            return (counted, *map(int, tops)), done.stderr
        found = re.search(r"^mAP +([\d.]+) % \(11 points: ([\d.]+) %\)$", done.stdout, re.M)
        return (counted, float(found[1]), float(found[2])), done.stderr


class ClassificationTest(ValidationCase):
    def setUp(self):
        super().setUp()
        self.model = scores_net(self.dir / "m.xml", 10)
        levels = {k: 200 - 10 * k for k in range(7)}  # class 0 first, 6 seventh
        write_row(self.dir / "p/best.png", row(10, {3: 255}))
        write_row(self.dir / "p/with space.png", row(10, levels))

    def write_list(self, *lines, end="\n"):
        path = self.dir / "list.txt"
        path.write_bytes(("".join(line + end for line in lines)).encode())
        return path

    def test_top1_and_top5(self):
        for end in ("\n", "\r\n"):
            path = self.write_list("# a comment", "", "p/best.png 3", "p/with space.png\t0", "p/with space.png 4",
                                   "p/with space.png 5", end=end)
            self.assertEqual(self.figures("-m", self.model, "-i", path)[0], (4, 2, 3))
        self.assertEqual(self.figures("-m", self.model, "-i", path, "--limit", "2")[0], (2, 2, 2))

    def test_of_equal_scores_the_lower_class_comes_first(self):
        write_row(self.dir / "p/tie.png", row(10, {2: 99, 7: 99}))
        for label, expected in ((2, (1, 1, 1)), (7, (1, 0, 1)), (0, (1, 0, 1)), (3, (1, 0, 1)), (4, (1, 0, 0))):
            # behind 2 and 7 come 0, 1 and 3, which are equal too
            path = self.write_list(f"p/tie.png {label}")
            self.assertEqual(self.figures("-m", self.model, "-i", path)[0], expected)

    def test_bad_lines_and_pictures_are_named_and_not_counted(self):
        whole = (self.dir / "p/best.png").read_bytes()
        (self.dir / "p/cut.png").write_bytes(whole[:len(whole) * 6 // 10])
        (self.dir / "p/empty.png").write_bytes(b"")
        (self.dir / "p/text.jpg").write_text("no picture")
        path = self.write_list("p/best.png 3", "p/cut.png 3", "p/best.png", "p/best.png x", "p/best.png -1",
                               "p/missing.png 3", "p/empty.png 3", "p/text.jpg 3", "p/best.png 10", "p/best.png 4")
        figures, errors = self.figures("-m", self.model, "-i", path, code=1)
        self.assertEqual(figures, (2, 1, 2))
        lines = errors.splitlines()
        self.assertEqual(len(lines), 8)
        for part in ("cut.png", "list.txt:3", "list.txt:4", "list.txt:5", "missing.png", "empty.png", "text.jpg",
                     "label 10 is out of range"):
            self.assertEqual(sum(part in line for line in lines), 1, part)

    def test_a_bad_picture_does_not_show_the_one_before(self):
        whole = (self.dir / "p/best.png").read_bytes()
        (self.dir / "p/cut.png").write_bytes(whole[:len(whole) * 6 // 10])
        for lines in (("p/best.png 3", "p/cut.png 3"), ("p/cut.png 3", "p/best.png 3")):
            self.assertEqual(self.figures("-m", self.model, "-i", self.write_list(*lines), code=1)[0], (1, 1, 1))

    def test_labels_by_name(self):
        (self.dir / "l.txt").write_bytes("".join(f"name {i}\r\n" if i != 3 else "cat\r\n" for i in range(10)).encode())
        path = self.write_list("p/best.png cat", "p/best.png 3", "p/best.png dog")
        figures, errors = self.figures("-m", self.model, "-i", path, "-l", self.dir / "l.txt", code=1)
        self.assertEqual(figures, (2, 2, 2))
        self.assertIn("'dog'", errors)

    def test_the_background_class(self):
        model = scores_net(self.dir / "b.xml", 1001)
        write_row(self.dir / "p/a.png", row(1001, {66: 200}))
        write_row(self.dir / "p/b.png", row(1001, {1: 200}))
        path = self.write_list("p/a.png 65", "p/b.png 0")
        (self.dir / "l.txt").write_text("".join(f"{i}\n" for i in range(1000)))
        for flag in ("--background", "-Czb"):
            figures, errors = self.figures("-m", model, "-i", path, flag, "-l", self.dir / "l.txt")
            self.assertEqual((figures[0], figures[1], errors), (2, 2, ""))
        figures, errors = self.figures("-m", model, "-i", path, "-l", self.dir / "l.txt")
        self.assertEqual(figures[1], 0)
        self.assertIn("1000 labels for 1001 classes", errors)
        self.assertIn("--background", errors)

    def test_folders_are_classes(self):
        for folder, label in (("ants", 0), ("bees", 1), ("cats", 2)):
            write_row(self.dir / "named" / folder / "x.png", row(10, {label: 200}))
            write_row(self.dir / "numbered" / str(label + 4) / "x.png", row(10, {label + 4: 200}))
        self.assertEqual(self.figures("-m", self.model, "-i", self.dir / "named")[0], (3, 3, 3))
        self.assertEqual(self.figures("-m", self.model, "-i", self.dir / "numbered")[0], (3, 3, 3))
        (self.dir / "l.txt").write_text("bees\ncats\nmice\n" + "".join(f"n{i}\n" for i in range(7)))
        figures, errors = self.figures("-m", self.model, "-i", self.dir / "named", "-l", self.dir / "l.txt", code=1)
        self.assertEqual(figures, (2, 0, 2))
        self.assertIn("ants", errors)

    def write_idx(self, count=3):
        images = self.dir / "t10k-images-idx3-ubyte"
        labels = self.dir / "t10k-labels-idx1-ubyte"
        pixels = b"".join(bytes(row(10, {i: 200})) for i in range(3))
        images.write_bytes(struct.pack(">IIII", 0x803, count, 1, 10) + pixels)
        labels.write_bytes(struct.pack(">II", 0x801, count) + bytes([0, 1, 5]))
        return images, labels

    def test_idx_files(self):
        images, labels = self.write_idx()
        self.assertEqual(self.figures("-m", self.model, "-i", images)[0], (3, 2, 2))
        other = labels.rename(self.dir / "other")
        self.assertEqual(self.figures("-m", self.model, "-i", images, "--idx-labels", other)[0], (3, 2, 2))
        self.assertIn("idx1", self.fail_with(1, "-m", self.model, "-i", images))

    def test_damaged_idx_files(self):
        images, labels = self.write_idx()
        for path, data in ((images, images.read_bytes()), (labels, labels.read_bytes())):
            # Fewer than three bytes are no IDX file, but an empty list.
            for end in (*range(3 if path == images else 0, 9), len(data) // 2, len(data) - 1):
                path.write_bytes(data[:end])
                self.fail_with(1, "-m", self.model, "-i", images)
            path.write_bytes(data)
        for sizes in ((2**32 - 1, 2**32 - 1, 2**32 - 1), (3, 0, 10), (3, 2**31, 2), (4, 1, 10)):
            images.write_bytes(struct.pack(">IIII", 0x803, *sizes) + bytes(30))
            self.fail_with(1, "-m", self.model, "-i", images)
        images.write_bytes(b"\x1f\x8b\x08\x00")
        self.assertIn("gunzip", self.fail_with(1, "-m", self.model, "-i", images))

    def test_refusals(self):
        path = self.write_list("p/best.png 3")
        for arguments in ((), ("-m", self.model), ("-m", self.model, "-i", path, "-t", "X"),
                          ("-m", self.model, "-i", path, "--limit", "0")):
            self.fail_with(2, *arguments)
        self.fail_with(1, "-m", self.dir / "absent.xml", "-i", path)
        self.fail_with(1, "-m", self.model, "-i", self.dir / "absent.txt")
        self.assertIn("folders", self.fail_with(1, "-m", self.model, "-i", self.dir / "p"))
        self.fail_with(1, "-m", self.model, "-i", self.write_list())

    def test_odd_folders(self):
        for name in ODD_FOLDERS:
            write_row(self.dir / name / "3/x.png", row(10, {3: 200}))
            model = scores_net(self.dir / name / "m.xml", 10)
            self.assertEqual(self.figures("-m", model, "-i", self.dir / name)[0], (1, 1, 1))


class DetectionTest(ValidationCase):
    def setUp(self):
        super().setUp()
        net = IrText()
        x = net.parameter("image", (1, 1, 1, 7))
        net.result(net.add("boxes", "Add", [x, net.constant("zero", (), [0.0])], (1, 1, 1, 7)))
        self.model = net.write(self.dir / "m.xml")

    def add(self, name, score, width, objects, label=255):
        """A picture of 7x1 in which the network finds one object of class 1 from the left edge on."""
        write_row(self.dir / f"p/{name}.png", [0, label, score, 0, 0, width, 255])
        text = "".join(f"<object><name>{label}</name><difficult>{int(hard)}</difficult><bndbox><xmin>{left}</xmin>"
                       f"<ymin>1</ymin><xmax>{right}</xmax><ymax>1</ymax></bndbox></object>"
                       for label, left, right, hard in objects)
        (self.dir / f"p/{name}.xml").write_text(f"<annotation>{text}</annotation>")

    def validate(self, *arguments, code=0):
        return self.figures("-m", self.model, "-i", self.dir / "p", "-t", "OD", "--scale", "255,255,255", *arguments,
                            code=code)

    def test_average_precision_of_a_known_ranking(self):
        self.add("hit", 204, 255, [(1, 1, 7, False)])
        self.add("miss", 230, 90, [(1, 1, 7, False)])  # a third of it
        figures, _ = self.validate()
        self.assertEqual(figures, (2, 25.0, round(100 * 6 * 0.5 / 11, 2)))
        self.add("miss", 100, 90, [(1, 1, 7, False)])  # now behind the hit
        self.assertEqual(self.validate()[0], (2, 50.0, round(100 * 6 / 11, 2)))

    def test_overlap_of_half_counts(self):
        self.add("a", 204, 255, [(1, 1, 4, False)])  # 4 of 7
        self.assertEqual(self.validate()[0], (1, 100.0, 100.0))
        self.add("a", 204, 255, [(1, 1, 3, False)])  # 3 of 7
        self.assertEqual(self.validate()[0], (1, 0.0, 0.0))

    def test_difficult_objects_are_neither_wanted_nor_wrong(self):
        self.add("a", 204, 255, [(1, 1, 7, False)])
        self.add("b", 230, 255, [(1, 1, 7, True)])
        self.assertEqual(self.validate()[0], (2, 100.0, 100.0))

    def test_classes_without_detections_pull_the_mean_down(self):
        self.add("a", 204, 255, [(1, 1, 7, False), (5, 1, 7, False)])
        self.assertEqual(self.validate()[0], (1, 50.0, 50.0))

    def test_labels_and_background(self):
        self.add("a", 204, 255, [("cat", 1, 7, False)])
        (self.dir / "l.txt").write_text("cat\ndog\n")
        self.assertEqual(self.validate("-l", self.dir / "l.txt", "--background")[0], (1, 100.0, 100.0))
        self.assertEqual(self.validate("-l", self.dir / "l.txt")[0], (1, 0.0, 0.0))

    def test_bad_annotations_are_named(self):
        self.add("a", 204, 255, [(1, 1, 7, False)])
        for name, text in (("broken", "<annotation><obj"), ("other", "<x/>"),
                           ("nobox", "<annotation><object><name>1</name></object></annotation>"),
                           ("unknown", "<annotation><object><name>zebra</name></object></annotation>")):
            self.add(name, 204, 255, [])
            (self.dir / f"p/{name}.xml").write_text(text)
        write_row(self.dir / "p/alone.png", [0] * 7)
        figures, errors = self.validate(code=1)
        self.assertEqual(figures[0], 1)
        for part in ("broken.xml", "other.xml", "nobox.xml", "zebra", "alone.xml"):
            self.assertIn(part, errors)

    def test_annotations_in_a_folder_of_their_own(self):
        self.add("a", 204, 255, [(1, 1, 7, False)])
        (self.dir / "x").mkdir()
        (self.dir / "p/a.xml").rename(self.dir / "x/a.xml")
        self.assertEqual(self.validate("--annotations", self.dir / "x")[0], (1, 100.0, 100.0))

    def test_a_network_that_detects_nothing_is_refused(self):
        self.add("a", 204, 255, [(1, 1, 7, False)])
        self.assertIn("[1,10]", self.fail_with(1, "-m", scores_net(self.dir / "s.xml", 10), "-i", self.dir / "p", "-t", "OD"))


if __name__ == "__main__":
    run_tests(CommandCase)
