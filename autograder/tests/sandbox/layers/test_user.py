"""The users of students' processes, tried in an interpreter of its own."""

import pwd
import subprocess
import sys

from autograder.sandbox.layers import user
from autograder.sandbox.layers.user import Users
from autograder.tests.running import as_root, linux


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


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
