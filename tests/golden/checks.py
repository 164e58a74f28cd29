# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that have OpenVINO run what Headrace wrote: running a model, collecting what fails."""
import os
import sys

import numpy as np

from make_cases import ORACLE


def run(core, model, inputs):
    """Names and types of a model's outputs, and their values. `model` is a path or a model of `core`."""
    if isinstance(model, str):
        model = core.read_model(model)
    request = core.compile_model(model, "CPU", ORACLE).create_infer_request()
    request.infer(inputs)
    ports = [(port.get_any_name() if port.names else "", str(port.element_type)) for port in model.outputs]
    return ports, [np.array(tensor.data) for tensor in request.output_tensors]


def check_all(cases, check, good):
    """Runs check(case) for each (name, case); it returns "" or what is wrong. Prints how many were `good`, and ends
    with exit code 1 where some were not, or where there were none."""
    script = os.path.basename(sys.argv[0])
    failures = []
    count = 0
    for name, case in cases:
        count += 1
        try:
            text = check(case)
        except Exception as error:  # collected, so that one run shows every broken model
            text = str(error).strip().splitlines()[-1][:200]
        if text:
            failures.append(f"{script}: error: {name}: {text}")
    print(f"{count - len(failures)} {good}, {len(failures)} failed")
    if failures or count == 0:
        sys.exit("\n".join(failures) or f"{script}: error: there was nothing to check")
