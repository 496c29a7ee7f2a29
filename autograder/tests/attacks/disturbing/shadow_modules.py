"""Comes with files called as modules that the grader or Python itself imports, which leave a mark outside a sandbox."""

MARK = '''
try:
    open("/tmp/hostile-shadow", "w").close()
except OSError:
    pass
'''
NAMES = ("random", "numpy", "json", "socket", "wire", "child", "server", "autograder", "autograder/__init__", "typing",
         "autograder/sandbox/wire", "conftest", "sitecustomize", "usercustomize", "pytest", "_pytest", "otter", "yaml",
         "psutil", "struct", "encodings", "encodings/utf_8", "msgpack", "site", "os", "posixpath", "test_layernorm")  # fmt: skip
EXTRA = {f"{name}.py": MARK for name in NAMES}
NEEDS = ("landlock",)

import random  # noqa: E402

random.random()
