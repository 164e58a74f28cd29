# SPDX-License-Identifier: Apache-2.0
"""`headrace tune` from outside: interrupt and resume, what is done with its table, damaged tables, wrong usage.

Usage: tune_test.py HEADRACE_BINARY [unittest options]
"""
import json
import math
import os
import signal
import subprocess
import time

from cli_test import CliCase, relu_net
from command_case import run_tests
from ir_text import IrText

LAYERS = 6


def convolutions(path):
    """1x1 convolutions, each of another shape: as many classes to tune."""
    net = IrText()
    channels = [3 + 2 * i for i in range(LAYERS + 1)]
    x = net.parameter("x", (1, channels[0], 9, 9))
    for i in range(LAYERS):
        shape = (channels[i + 1], channels[i], 1, 1)
        weights = net.constant(f"w{i}", shape, [math.sin(k) for k in range(channels[i + 1] * channels[i])])
        x = net.add(f"conv{i}", "Convolution", [x, weights], (1, channels[i + 1], 9, 9), strides="1,1", dilations="1,1",
                    pads_begin="0,0", pads_end="0,0")
    net.result(x)
    return net.write(path)


class TuneCase(CliCase):
    def setUp(self):
        super().setUp()
        self.needs("POCL")
        self.model = convolutions(self.dir / "m.xml")

    def tables(self):
        return list((self.dir / "state").glob("tuning-*.json"))

    def stored(self):
        return json.loads(self.tables()[0].read_text())["shapes"]

    def tune(self, *arguments, **environment):
        return json.loads(self.succeed("tune", self.model, "-d", "POCL", "--json", *arguments, **environment).stdout)

    def plan(self, *arguments):
        return self.succeed("query", self.model, "-d", "POCL", "--dump=after:plan", *arguments)


class TuneTest(TuneCase):
    def test_goes_on_after_an_interrupt(self):
        command = [self.BINARY, "tune", str(self.model), "-d", "POCL"]
        environment = {**os.environ, **self.environment}
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment) as process:
            while not self.tables() and process.poll() is None:
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            error = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 1, error)
        before = self.stored()
        self.assertTrue(0 < len(before) < LAYERS, len(before))
        self.assertIn(f"interrupted after {len(before)} of {LAYERS} shapes", error)
        self.assertEqual(len(error.splitlines()), 1)

        report = self.tune()
        self.assertEqual(report["measured"], LAYERS - len(before))
        self.assertEqual([row["new"] for row in report["shapes"]], [row["shape"] not in before for row in report["shapes"]])
        after = self.stored()
        self.assertEqual(len(after), LAYERS)
        for shape, row in before.items():
            self.assertEqual(after[shape], row)
        self.assertEqual(self.tune()["measured"], 0)
        self.assertEqual(self.tune("--again")["measured"], LAYERS)
        self.assertEqual([path.name for path in (self.dir / "state").iterdir()], [self.tables()[0].name])

    def test_lowering_follows_the_table(self):
        self.tune()
        path = self.tables()[0]
        table = json.loads(path.read_text())
        for form in ("conv_wide.cl|TILE_M=6,TILE_N=2,VEC=4|conv_wide_f32", "conv_wide.cl|TILE_M=1,TILE_N=8,VEC=4|conv_wide_f32"):
            for row in table["shapes"].values():
                row["form"] = form
            path.write_text(json.dumps(table))
            self.assertEqual(self.plan().stdout.count(form), LAYERS)
            bench = json.loads(self.succeed("bench", self.model, "-d", "POCL", "--niter", "2", "--json").stdout)
            self.assertEqual(bench["iterations"], 2)
        self.succeed("bench", self.model, "-d", "POCL", "--niter", "2", "--no-tuning")

    def test_a_damaged_table_is_one_warning(self):
        self.tune()
        path = self.tables()[0]
        good = path.read_text()
        for bad in ("", "{}", good[: len(good) // 2], good.replace('"driver": "', '"driver": "not '),
                    good.replace('"device": "', '"device": "not '), "\x00" * 100):
            path.write_text(bad)
            done = self.succeed("bench", self.model, "-d", "MULTI:POCL,CPU", "--niter", "4")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("headrace: warning: tuning table "), done.stderr)
            self.assertIn(str(path), done.stderr)
        # A new table takes its place, with the warning for the last time.
        self.tune()
        self.assertEqual(len(self.stored()), LAYERS)
        self.assertEqual(self.plan().stderr, "")

    def test_a_folder_that_cannot_be_written_is_a_warning(self):
        done = self.succeed("tune", self.model, "-d", "POCL", HEADRACE_STATE_DIR="/proc/nope")
        self.assertEqual(done.stderr.count("headrace: warning: the tuning table is not kept"), 1, done.stderr)
        self.assertIn("not kept", done.stdout)

    def test_a_named_table_is_written_and_nothing_else_is_replaced(self):
        named = self.dir / "my table.json"
        self.assertEqual(self.tune("-o", named)["table"], str(named))
        self.assertEqual(self.tables(), [])
        self.assertEqual(self.tune("-o", named)["measured"], 0)
        text = self.dir / "text"
        text.write_text("not a table")
        self.assertIn(str(text), self.fail_with(1, "tune", self.model, "-d", "POCL", "-o", text))
        self.assertEqual(text.read_text(), "not a table")
        named.write_text(named.read_text().replace('"device": "', '"device": "not '))
        self.assertIn("was measured on not ", self.fail_with(1, "tune", self.model, "-d", "POCL", "-o", named))
        self.fail_with(1, "tune", self.model, "-d", "POCL", "-o", "/proc/nope/table.json")

    def test_nothing_to_tune(self):
        model = relu_net(self.dir / "relu.xml")
        self.assertIn("nothing to tune", self.succeed("tune", model, "-d", "POCL").stdout)
        self.assertEqual(json.loads(self.succeed("tune", model, "-d", "POCL", "--json").stdout)["shapes"], [])

    def test_wrong_usage(self):
        for arguments in (("tune",), ("tune", self.model), ("tune", "-d", "POCL"), ("tune", "--all"),
                          ("tune", self.model, "--all", "-d", "POCL"), ("tune", "--all", "-w", "x.bin", "-d", "POCL")):
            with self.subTest(arguments=arguments):
                self.fail_with(2, *arguments)
        for device in ("CPU", "NOPE", "HETERO:POCL,CPU", "MULTI:POCL,CPU"):
            with self.subTest(device=device):
                self.assertIn("POCL", self.fail_with(1, "tune", self.model, "-d", device))
        self.assertIn("nothing.xml", self.fail_with(1, "tune", self.dir / "nothing.xml", "-d", "POCL"))


class PeakTest(TuneCase):
    def test_bench_prints_shares_of_the_peak(self):
        figures = json.loads(self.succeed("bench", self.model, "-d", "HETERO:POCL,CPU", "--niter", "3", "--pc", "--json").stdout)
        peak = figures["peak_gflops"]["POCL"]
        self.assertGreater(peak, 0.1)
        layers = [row for row in figures["profile"] if row["type"] == "Convolution" and row["flops"] > 0]
        self.assertEqual(len(layers), LAYERS)
        for row in layers:
            self.assertAlmostEqual(row["of_peak"], row["flops"] / row["device_us"] / 1e3 / peak, delta=1e-6)
        self.assertTrue(all("of_peak" not in row for row in figures["profile"] if row["flops"] == 0))
        text = self.succeed("bench", self.model, "-d", "POCL", "--niter", "3", "--pc").stdout
        self.assertRegex(text, r"(?m)^LAYER .* GFLOP/s +GB/s +OF PEAK$")
        self.assertRegex(text, r"(?m)^peak of POCL: [0-9.]+ GFLOP/s")

    def test_the_cpu_has_no_peak(self):
        text = self.succeed("bench", self.model, "-d", "CPU", "--niter", "3", "--pc").stdout
        self.assertNotIn("PEAK", text)


if __name__ == "__main__":
    run_tests(TuneCase)
