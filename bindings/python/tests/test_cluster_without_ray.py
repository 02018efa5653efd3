"""The cluster command without Ray."""

import subprocess
import sys

WITHOUT_RAY = "import sys, runpy; sys.modules['ray'] = None; runpy.run_module('wdgnn.cluster', run_name='__main__')"


def test_a_missing_ray_is_one_line_and_exit_code_2():
    finished = subprocess.run([sys.executable, "-c", WITHOUT_RAY], capture_output=True, text=True)
    assert finished.returncode == 2
    assert finished.stderr == "wdgnn.cluster: Ray is not installed: run `pip install ray`\n"
