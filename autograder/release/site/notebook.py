"""Makes the notebook of the site: JupyterLite, which is JupyterLab without a server, with the files that students get.

Its packages are in the extra `site`. Its kernel runs in the page's Pyodide, which loads all Python packages before the
first cell. The packages that Pyodide lacks become wheels, made from the installed ones.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.exceptions import ArgumentsError, CommandError
from autograder.release import packing

LOCK, SCRIPT = "pyodide-lock.json", "pyodide.js"
PACKAGES = ("ipython", "jedi", "matplotlib", "micropip", "packaging", "pygments", "sqlite3", "ssl")  # of Pyodide
WHEELS = ("comm", "iniconfig", "ipywidgets", "pluggy", "pytest")
FROM_WORKER = "../../../../wheels/"  # the kernel's worker, in extensions/@jupyterlite/NAME/static, loads the wheels
KERNEL, WIDGETS = "@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager"
BUILD = {"apps": ["lab"], "ignore_sys_prefix": ["federated_extensions"], "no_sourcemaps": True, "output_dir": "out"}
DATE = "1980-01-01T00:00:00Z"
LISTED = {"created": DATE, "last_modified": DATE, "writable": True, "content": None, "format": None, "mimetype": None}


def is_installed() -> bool:
    """Return whether the extra `site` is installed, with the kernel for the version of Pyodide in pins.json."""
    try:
        return importlib.metadata.version("jupyterlite-pyodide-kernel").startswith("0.6.")
    except importlib.metadata.PackageNotFoundError:
        return False


def python_files(pyodide: Path) -> dict[str, bytes]:
    """Return the files of a folder with Pyodide that the kernel needs; the browser verifies them with the list in LOCK."""
    names = list(PACKAGES)
    try:
        listed = json.loads((pyodide / LOCK).read_bytes())["packages"]
        for name in names:
            needed = (depends.lower().replace("_", "-") for depends in listed[name]["depends"])
            names += [depends for depends in needed if depends not in names]
        files = [LOCK, SCRIPT, *(listed[name]["file_name"] for name in names)]
        return {name: (pyodide / name).read_bytes() for name in files}
    except (OSError, KeyError) as error:
        raise ArgumentsError(f"--pyodide: {pyodide} has not all files that the notebook needs: {error}") from error


def files(student: dict[str, bytes], python: str) -> dict[str, bytes]:
    """Run `jupyter lite build` in a temporary folder, and return its files with those of the student folder.

    `python` is the address of Pyodide's script. Raises CommandError.
    """
    wheels = {}
    for name in WHEELS:
        distribution = importlib.metadata.distribution(name)
        wheels[f"{name}-{distribution.version}-py3-none-any.whl"] = packing.packed(dict(installed(distribution)))
    packages = [*PACKAGES, *(FROM_WORKER + name for name in wheels)]
    options = {"packages": packages, "env": {"HOME": "/home/pyodide", "PYTHONDONTWRITEBYTECODE": "1"}}
    kernel = {"pyodideUrl": python, "disablePyPIFallback": True, "loadPyodideOptions": options}
    page = {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {"litePluginSettings": {f"{KERNEL}:kernel": kernel}},
    }
    extensions = [str(Path(sys.prefix, "share/jupyter/labextensions", name)) for name in (KERNEL, WIDGETS)]
    build = {"LiteBuildConfig": BUILD | {"federated_extensions": extensions}}
    with packing.temporary_folder("autograder-notebook-") as folder:
        (folder / "out" / "build" / "schemas").mkdir(parents=True)  # the build adds settings only to an existing folder
        (folder / "jupyter_lite_config.json").write_text(json.dumps(build))
        (folder / "jupyter-lite.json").write_text(json.dumps(page))
        command, environment = [sys.executable, "-m", "jupyterlite_core", "build"], {"SOURCE_DATE_EPOCH": "315532800"}
        done = subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)
        if done.returncode:
            raise CommandError(f"jupyter lite build failed: {done.stderr.strip()[-400:]}")
        built = packing.contents(folder / "out")
    built["lab/index.html"] = built["lab/index.html"].replace(b"<head>", b'<head><link rel="icon" href="data:,">', 1)
    built |= {f"wheels/{name}": data for name, data in wheels.items()}
    built |= {f"files/{name}": data for name, data in student.items()}
    return built | dict(_listings(student))


def installed(distribution: importlib.metadata.Distribution) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an installed package that a browser needs, by their paths in site-packages."""
    for file in distribution.files or ():
        path = file.as_posix()
        if not path.startswith("..") and path.endswith((".py", "METADATA", "WHEEL", "entry_points.txt", "LICENSE")):
            yield path, Path(str(file.locate())).read_bytes()


def _listings(student: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the list of files in each folder, in the format of Jupyter's server."""
    folders: dict[str, dict[str, Any]] = {}
    for path, data in student.items():
        kind, size = "notebook" if path.endswith(".ipynb") else "file", len(data)
        while path:
            folder, _, name = path.rpartition("/")
            folders.setdefault(folder, {})[name] = LISTED | {"name": name, "path": path, "type": kind, "size": size}
            path, kind, size = folder, "directory", 0
    for folder, items in folders.items():
        listing = LISTED | {"name": Path(folder).name, "path": folder, "type": "directory", "format": "json"}
        listing["content"] = list(items.values())
        yield f"api/contents/{folder}/all.json".replace("//", "/"), json.dumps(listing).encode()
