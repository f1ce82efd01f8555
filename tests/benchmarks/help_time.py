"""Processor time of ``ci-toolkit --help``, beside a bare interpreter, a bare click command, and ``pytest --help``.

    python tests/benchmarks/help_time.py

Target: at most 0.12 s.
"""

import argparse
import statistics
import sys

from costs import run

CLICK = "import click; click.command()(lambda: None).main(['--help'])"
COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "a click command --help": ("-c", CLICK),
    "pytest --help": ("-m", "pytest", "--help"),
    "ci-toolkit --help": ("-m", "ci_toolkit", "--help"),
}


def main() -> None:
    """Prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    for name, arguments in COMMANDS.items():
        spent = [run(sys.executable, *arguments, quiet=True).cpu for _ in range(runs)]
        print(f"{name:24}{statistics.median(spent):8.3f} s CPU (median of {runs})")


if __name__ == "__main__":
    main()
