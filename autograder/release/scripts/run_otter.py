"""Grade the upload in submission/ and write results/results.json."""

from pathlib import Path

from autograder.release.gradescope import main

PLACE = "/autograder"

if __name__ == "__main__":
    main(Path(PLACE))
