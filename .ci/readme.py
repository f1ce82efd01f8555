"""Prints the commands of a README: the contents of its blocks marked ``sh``, in their order."""

import re
import sys
from pathlib import Path

blocks = re.findall(r"^```sh\n(.*?)^```$", Path(sys.argv[1]).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
if not blocks:
    sys.exit(f"{sys.argv[1]}: no block marked sh: nothing to run")
sys.stdout.write("".join(blocks))
