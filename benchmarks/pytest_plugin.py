"""What the idle pytest plugin costs beside `pytest --collect-only`, in turns: milliseconds of the CPU.

    python benchmarks/pytest_plugin.py [ROUNDS]

The plugin is imported as pytest does it, with its import hook in place. Runs with it and without differ by
more from one to the next than by the plugin, so the import is measured by itself.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

COLLECT = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
IMPORT = """\
import time
from _pytest.assertion import install_importhook
from _pytest.config import get_config

config = get_config()
install_importhook(config)
start = time.process_time()
config.pluginmanager.import_plugin("diagnose.pytest_plugin")
print(1000 * (time.process_time() - start))
"""


def collected(folder: Path) -> float:
    """Of a run that collects one test, without any plugin but pytest's own."""
    before = os.times()
    subprocess.run([sys.executable, *COLLECT], cwd=folder, check=True, capture_output=True)
    after = os.times()
    used = after.children_user - before.children_user
    return 1000 * (used + after.children_system - before.children_system)


def imported() -> float:
    """Of the import."""
    return float(subprocess.check_output([sys.executable, "-c", IMPORT]))


def main(rounds: int = 15) -> None:
    # Packages are installed with their bytecode: without it the time is that of compiling.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    imported()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_one.py").write_text("def test_one():\n    pass\n")
        each = [(collected(Path(folder)), imported()) for _ in range(rounds)]
    whole, plugin = (statistics.median(column) for column in zip(*each, strict=True))
    print(f"pytest --collect-only {whole:.0f} ms; the plugin {plugin:.2f} ms, {plugin / whole:.2%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
