"""Limits, open files and users of a process, tried in an interpreter of its own."""

import os
import pwd
import subprocess
import sys

from autograder.sandbox.layers import user
from autograder.sandbox.layers.user import Users
from autograder.tests.running import as_root, linux


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


LIMITED = """
import resource as r
from autograder.sandbox.layers.kernel import limit
r.setrlimit(r.RLIMIT_NOFILE, (100, 100))
limit(memory=2**30, file_size=2**20, seconds=7, open_files=OPEN, threads=None)
print([r.getrlimit(getattr(r, f"RLIMIT_{name}")) for name in ("AS", "FSIZE", "CPU", "NOFILE", "CORE")])
"""


@linux
def test_limits_are_put_on_for_good_and_never_above_those_of_this_process() -> None:
    for open_files, held in ((50, 50), (500, 100)):
        limits = [(2**30, 2**30), (2**20, 2**20), (7, 7), (held, held), (0, 0)]
        assert printed(LIMITED.replace("OPEN", str(open_files))) == str(limits)


CLOSED = """
import os
from autograder.sandbox.layers import kernel
opened = [os.open("/", os.O_RDONLY) for _ in range(50)]
high = os.dup2(opened[0], 900)
kernel.close_all_but(opened[3], opened[7], -1)
found = []
for number in range(1024):
    try:
        os.fstat(number)
        found.append(number)
    except OSError:
        pass
kept = os.open("/dev/shm/kept-of-a-test", os.O_CREAT | os.O_WRONLY)  # the standard streams are /dev/null now
os.write(kept, repr(found == [0, 1, 2, opened[3], opened[7]]).encode())
os._exit(0 if os.fstat(0).st_rdev == os.stat("/dev/null").st_rdev else 1)
"""


@linux
def test_only_the_files_that_are_kept_stay_open() -> None:
    try:
        printed(CLOSED)
        with open("/dev/shm/kept-of-a-test") as file:
            assert file.read() == "True"
    finally:
        os.unlink("/dev/shm/kept-of-a-test")


@linux
def test_no_user_is_one_of_another_sandbox_or_of_the_machine_and_all_are_given_back() -> None:
    first, second = Users(), Users()
    third = printed("from autograder.sandbox.layers.user import Users; print(*Users().numbers)").split()
    every = {*first.numbers, *second.numbers, *map(int, third)}
    assert len(every) == 3 * user.BLOCK and all(user.FIRST <= number <= user.LAST for number in every)
    assert every.isdisjoint(entry.pw_uid for entry in pwd.getpwall())
    first.close()
    second.close()
    again = Users()
    assert again.numbers == first.numbers
    again.close()


@as_root
def test_root_becomes_another_user_for_good() -> None:
    code = (
        "import os; from autograder.sandbox.layers import user; user.become(54321)\n"
        "assert os.getresuid() == os.getresgid() == (54321,) * 3 and os.getgroups() == []\n"
        "try: os.setuid(0)\nexcept PermissionError: print('refused')"
    )
    assert printed(code) == "refused"
