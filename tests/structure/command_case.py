# SPDX-License-Identifier: Apache-2.0
"""What the tests of single commands share: running the binary in a folder of its own, and a small network."""
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from ir_text import IrText


def small_classifier(path, batch=1):
    """Two convolutions with a batch normalization each, a pool, a fully connected layer, a softmax on [N,3,16,16]."""
    net = IrText("small")
    x = net.parameter("x", (batch, 3, 16, 16))
    t = x
    for name, inputs, outputs in (("one", 3, 8), ("two", 8, 8)):
        count = outputs * inputs * 9
        weights = net.constant(name + "/w", (outputs, inputs, 3, 3), [0.2 * math.sin(3 * i) for i in range(count)])
        t = net.add(name, "Convolution", [t, weights], (batch, outputs, 16, 16), strides="1,1", dilations="1,1",
                    pads_begin="1,1", pads_end="1,1")
        scale = net.constant(name + "/s", (1, outputs, 1, 1), [1 + 0.1 * i for i in range(outputs)])
        t = net.add(name + "/scale", "Multiply", [t, scale], (batch, outputs, 16, 16))
        shift = net.constant(name + "/b", (1, outputs, 1, 1), [0.1 * i + 0.01 * inputs for i in range(outputs)])
        t = net.add(name + "/shift", "Add", [t, shift], (batch, outputs, 16, 16))
        t = net.add(name + "/relu", "ReLU", [t], (batch, outputs, 16, 16))
    t = net.add("pool", "MaxPool", [t], (batch, 8, 8, 8), kernel="2,2", strides="2,2", pads_begin="0,0",
                pads_end="0,0", rounding_type="floor")
    t = net.add("flat", "Reshape", [t, net.constant_i64("shape", [0, -1])], (batch, 512), special_zero="true")
    matrix = net.constant("m", (512, 10), [0.05 * math.cos(7 * i) for i in range(5120)])
    t = net.add("scores", "MatMul", [t, matrix], (batch, 10), transpose_a="false", transpose_b="false")
    net.result(net.add("y", "SoftMax", [t], (batch, 10), axis="1"))
    return net.write(path)


class CommandCase(unittest.TestCase):
    """BINARY is set by run_tests."""
    BINARY = ""
    PROGRAM = "headrace"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)
        self.environment = {"HEADRACE_CACHE_DIR": str(self.dir / "cache"), "HEADRACE_STATE_DIR": str(self.dir / "state")}

    def run_program(self, *arguments, **environment):
        return subprocess.run([self.BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                              env={**os.environ, **self.environment, **environment}, stdin=subprocess.DEVNULL)

    def succeed(self, *arguments, **environment):
        done = self.run_program(*arguments, **environment)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        self.assertNotIn(f"{self.PROGRAM}: error:", done.stderr)
        return done

    def fail_with(self, code, *arguments, **environment):
        """Checks the exit code and that there is exactly one error line, the last; returns it."""
        done = self.run_program(*arguments, **environment)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        lines = done.stderr.splitlines()
        errors = [line for line in lines if line.startswith(f"{self.PROGRAM}: error: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertEqual(lines[-1], errors[0])
        for line in lines[:-1]:
            self.assertTrue(line.startswith(f"{self.PROGRAM}: warning: "), line)
        return errors[0]


def run_tests(case):
    """Takes the binary off the command line and runs the tests of the calling file."""
    case.BINARY = sys.argv.pop(1)
    unittest.main()
