"""`python -m tengen`: the same as the command `tengen`."""

from tengen.apps.cli import main

main()
