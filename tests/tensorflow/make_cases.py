#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single operators over their attributes as frozen graphs, with TensorFlow's own answers: make_cases.py OUT"""
import sys

from cases_common import Cases
import cases_array
import cases_math
import cases_picture


def main():
    cases = Cases(sys.argv[1], "tensorflow")
    for module in (cases_picture, cases_math, cases_array):
        module.add_all(cases)
    cases.write()


main()
