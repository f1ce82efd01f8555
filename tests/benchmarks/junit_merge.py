"""Merges JUnit files of many cases with ``ci-toolkit junit merge`` and with ``junitparser merge``, in the same run.

    python tests/benchmarks/junit_merge.py --cases 1000000

Targets: at least 5 times faster, at most a fifth of the memory.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from costs import run

FILES = 4


def write_files(folder: Path, cases: int) -> list[str]:
    """Files as pytest writes them; one case in fifty fails."""
    names = []
    for number in range(FILES):
        path = folder / f"shard-{number}.xml"
        with path.open("w", encoding="utf-8") as file:
            file.write('<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest">')
            for case in range(cases // FILES):
                head = (
                    f'<testcase classname="tests.test_{number}" name="test_op[float32-{case}]" time="0.00{case % 10}"'
                )
                if case % 50:
                    file.write(f"{head} />")
                else:
                    file.write(
                        f'{head}><failure message="AssertionError: {case}">assert 0\nE  {case}</failure></testcase>'
                    )
            file.write("</testsuite></testsuites>")
        names.append(str(path))
    return names


def main() -> None:
    """Prints both costs and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    cases = parser.parse_args().cases
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = write_files(folder, cases)
        ours = run(sys.executable, "-m", "ci_toolkit", "junit", "merge", str(folder / "ours.xml"), *files)
        program = "from junitparser.cli import main; import sys; sys.exit(main())"
        peer = run(sys.executable, "-c", program, "merge", *files, str(folder / "peer.xml"))
        sizes = [(folder / name).stat().st_size >> 20 for name in ("ours.xml", "peer.xml")]
    print(f"{cases} cases in {FILES} files, {sizes[0]} MiB merged (peer: {sizes[1]} MiB)")
    for name, cost in (("ci-toolkit junit merge", ours), ("junitparser merge", peer)):
        print(f"{name:24}{cost}")
    print(f"ratio: {peer.wall / ours.wall:.1f} times faster, 1/{peer.memory / ours.memory:.1f} of the memory")


if __name__ == "__main__":
    main()
