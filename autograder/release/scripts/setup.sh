#!/usr/bin/env bash
# Gradescope runs this once, to build the image: Python and pinned packages, nothing else.
#
# Python comes from uv. It is one wheel on PyPI, and each of its releases has a fixed list of Python builds with their checksums, so
# its version also fixes the patch version of Python. Ubuntu's own Python depends on the base image that an instructor chooses.
set -euo pipefail
PYTHON=3.13
PLACE="/autograder"
KIT="$PLACE/source/files/kit-wheel"
UV="$PLACE/source/uv/bin/uv"
export DEBIAN_FRONTEND=noninteractive
export UV_PYTHON_PREFERENCE="${UV_PYTHON_PREFERENCE:-only-managed}" # a rehearsal may use a Python of its machine

apt-get update
apt-get install -y --no-install-recommends ca-certificates python3-pip
python3 -m pip install --no-input --upgrade --only-binary :all: --target "$PLACE/source/uv" uv==0.13.9
"$UV" venv --clear --python "${UV_PYTHON:-$PYTHON}" "$PLACE/source/env"
"$UV" pip install --python "$PLACE/source/env" --compile-bytecode --no-deps --only-binary :all: \
    -r "$KIT/requirements.txt" "$KIT"/*.whl
chmod 700 "$PLACE/source" # it has the solutions
"$PLACE/source/env/bin/python" -I -c "import autograder.release.gradescope" # fail now, not when a student uploads
