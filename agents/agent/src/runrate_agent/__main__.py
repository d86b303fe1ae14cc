"""`python -m runrate_agent`."""

import sys

from runrate_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
