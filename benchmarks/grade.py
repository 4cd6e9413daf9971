"""`python -m grader`, with the benchmark's notebook as part of the course."""

import sys

import benchmarks.fixture  # noqa: F401
from grader.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
