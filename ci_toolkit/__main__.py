"""``python -m ci_toolkit``."""

from ci_toolkit.cli.main import main

main()
