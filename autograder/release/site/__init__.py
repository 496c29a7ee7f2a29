"""Writes the site of a homework: static files with a page on which students write, check and train in the browser.

The page runs the student folder in Pyodide. pins.json has the version and the hash of every file that comes from
elsewhere: the page loads them from their usual CDN and verifies them, or the build copies them from a folder. pytest
and the packages that it needs are those installed with the kit.
"""

import base64
import hashlib
import importlib.metadata
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from packaging.requirements import Requirement

from autograder.exceptions import ArgumentsError
from autograder.files import write_atomically
from autograder.homework.homework import Homework
from autograder.homework.rubric import TESTS, TESTS_FILE, Rubric
from autograder.release import packing
from autograder.release.site import notebook

PAGE = Path(__file__).parent
SCRIPTS = ("editor.js", "in_browser.py", "python.js", "style.css", "training.js", "workbench.js", "worker.js", "zip.js")
PINS = json.loads((PAGE / "pins.json").read_text(encoding="utf-8"))
MODULES = "node_modules"  # the folder of the editor's packages, as npm names it
INSTRUCTIONS = ("README.md", "checks/README.md", "GRADING.md")  # one page on the site
NOT_RUN = (".html", ".ipynb", ".png")  # files of the student folder that no command looks for
LEXERS, USED_LEXERS = "pygments/lexers/", ("__init__", "_mapping", "diff", "python")  # of 250; pytest uses two


def python_files(pyodide: Path | None) -> dict[str, bytes]:
    """Return the files of Pyodide, the notebook's kernel and the editor in a folder by their paths in the site.

    There are none without a folder, and none of the kernel if the extra `site` is not installed.
    Raises ArgumentsError if a file is missing or not of the version in pins.json. The editor may be missing.
    """
    if pyodide is None:
        return {}
    pins, files = PINS["pyodide"], {}
    for name, pin in pins["files"].items():
        files[f"python/{name}"] = _verified(pyodide / name, pin["integrity"], f"Pyodide {pins['version']}")
    if notebook.is_installed():
        files |= {f"python/{name}": data for name, data in notebook.python_files(pyodide).items()}
    for name, pin in PINS["editor"]["packages"].items() if (pyodide / MODULES).is_dir() else ():
        path = f"{MODULES}/{name}/{pin['path']}"
        files[path] = _verified(pyodide / path, pin["integrity"], f"{name} {pin['version']}")
        if (terms := pyodide / MODULES / name / "LICENSE").is_file():
            files[f"{MODULES}/{name}/LICENSE"] = terms.read_bytes()
    return files


def write(homework: Homework, zipped: Path, folder: Path, python: dict[str, bytes]) -> Path:
    """Replace `folder` by the site of a homework, and return the path of its page.

    `zipped` is the students' zip. The site contains the files of Pyodide and of the editor in `python`; if there are
    none, the page loads them from the CDN.
    """
    with zipfile.ZipFile(zipped) as archive:
        student = {path.partition("/")[2]: archive.read(path) for path in archive.namelist()}
    name, readme = Path(homework.notebook).stem, student["README.md"].decode()
    title, imports = readme.partition("\n")[0].removeprefix("# "), _imports(python)
    files = {script: (PAGE / script).read_bytes() for script in SCRIPTS}
    files["homework.zip"] = packing.packed({path: data for path, data in student.items() if not path.endswith(NOT_RUN)})
    files["pytest.zip"] = packing.packed(dict(_pytest()))
    files["student.zip"] = zipped.read_bytes()
    pages = {page: student[page].decode() for page in INSTRUCTIONS if page in student}
    renderer, body = MarkdownIt("commonmark").enable("table"), ""
    for page, text in pages.items():
        body += f'<section id="{page}">\n{renderer.render(text)}</section>\n'
        files |= {path: student[path] for path in re.findall(r"!\[.*?\]\((\S+?)\)", text)}
    for page in pages:
        body = body.replace(f'href="{page}"', f'href="#{page}"')
    files["readme.html"] = _filled("readme.html", title=title, body=body)
    address = "./../python/" if python else PINS["pyodide"]["cdn"]
    if notebook.is_installed():
        built = notebook.files(student, address + notebook.SCRIPT)
        files |= {f"notebook/{path}": data for path, data in built.items()}
    files["index.html"] = _filled(
        "index.html",
        title=title,
        policy=_policy(imports, not python),
        imports=imports,
        trains="train.py" in student,
        notebook=Path(homework.notebook).name if notebook.is_installed() else "",
    )
    about = {
        "name": name,
        "files": list(_tabs(student, homework.rubric)),
        "given": sorted({path for path in student if path.endswith(".py")} - {*homework.rubric.files, TESTS_FILE}),
        "editor": bool(imports),
        "python": _python(files, not python),
    }
    files["homework.json"] = (json.dumps(about, ensure_ascii=False, indent=1) + "\n").encode()
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in (files | python).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / path, data)
    return folder / "index.html"


def _filled(name: str, **values: Any) -> bytes:
    template = jinja2.Template((PAGE / name).read_text(encoding="utf-8"), keep_trailing_newline=True)
    return bytes(template.render(values), "utf-8")


def _tabs(student: dict[str, bytes], rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Yield the files that students write, with the arguments of pytest for each choice of checks."""
    choices = {
        f"{module}.py": {name: ["--only", name] for name in entry.functions} | {f"all of {module}.py": [f"{module}.py"]}
        for module, entry in rubric.modules.items()
    }
    if TESTS in rubric.groups:
        of_tests = ["your tests on your functions", "your tests on correct and wrong code"]
        choices[TESTS_FILE] = dict(zip(of_tests, ([TESTS_FILE], ["--test-my-tests"]), strict=True))
    for file, commands in choices.items():
        commands["everything"] = []
        checks = [{"label": label, "arguments": arguments} for label, arguments in commands.items()]
        yield {"name": file, "text": student[file].decode(), "checks": checks}


def _python(files: dict[str, bytes], cdn: bool) -> dict[str, Any]:
    """Return the files that Python needs in the browser, with their addresses, and Pyodide's list of packages."""
    pins, source = PINS["pyodide"], PINS["pyodide"]["cdn"] if cdn else "python/"
    parts = [{"name": name, "address": source + name, **pin} for name, pin in pins["files"].items()]
    unpinned = ("pytest.zip", "homework.zip", "in_browser.py")
    parts += [{"name": name, "address": name, "bytes": len(files[name])} for name in unpinned]
    return {"parts": parts, "lock": pins["lock"], "numpy": pins["numpy"]}


def _verified(path: Path, integrity: str, version: str) -> bytes:
    if not path.is_file():
        raise ArgumentsError(f"--pyodide: there is no {path}; the site needs {version}")
    data = path.read_bytes()
    if _hash(data) != integrity:
        raise ArgumentsError(f"--pyodide: {path} is not the file of {version}, which the site needs")
    return data


def _hash(data: bytes, algorithm: str = "sha384") -> str:
    """Return the hash of a file in the form that browsers read."""
    return f"{algorithm}-{base64.b64encode(hashlib.new(algorithm, data).digest()).decode()}"


def _imports(python: dict[str, bytes]) -> str:
    """Return the import map of the editor's packages; "" if the site has Pyodide's files without the editor's."""
    pins, addresses = PINS["editor"], {}
    for name, pin in pins["packages"].items():
        path = f"{MODULES}/{name}/{pin['path']}"
        if python and path not in python:
            return ""
        addresses[name] = f"./{path}" if python else f"{pins['cdn']}{name}@{pin['version']}/{pin['path']}"
    hashes = {addresses[name]: pin["integrity"] for name, pin in pins["packages"].items()}
    return json.dumps({"imports": addresses, "integrity": hashes})


def _policy(imports: str, cdn: bool) -> str:
    """Return the security policy of the page: requests to this site, and to the CDN if Python is there."""
    script = f" '{_hash(imports.encode(), 'sha256')}'" if imports else ""
    scripts = f" {PINS['editor']['cdn']}" if cdn else ""
    connections = f" {PINS['pyodide']['cdn']}" if cdn else ""
    return (
        f"default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'{script}{scripts}; worker-src blob:; "
        f"connect-src 'self'{connections}; style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _pytest() -> Iterator[tuple[str, bytes]]:
    """Yield the files of pytest and of the packages that it needs in a browser, as they are installed."""
    names = ["pytest"]
    browser = {"extra": "", "sys_platform": "emscripten", "os_name": "posix", "python_version": "3.12"}
    for name in names:
        distribution = importlib.metadata.distribution(name)
        for line in distribution.requires or ():
            needed = Requirement(line)
            if needed.name not in names and (needed.marker is None or needed.marker.evaluate(browser)):
                names.append(needed.name)
        for path, data in notebook.installed(distribution):
            if not path.startswith(LEXERS) or Path(path).stem in USED_LEXERS:
                yield path, data
