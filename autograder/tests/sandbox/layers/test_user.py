"""Users of processes: nobody else has them, and two sandboxes never the same."""

import pwd
import subprocess
import sys

from autograder.sandbox.layers import user
from autograder.sandbox.layers.user import Users
from autograder.tests.running import as_root, linux


@linux
def test_two_sandboxes_have_no_user_in_common() -> None:
    first, second = Users(), Users()
    code = "from autograder.sandbox.layers.user import Users; print(*Users().numbers)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    third = set(map(int, done.stdout.split()))
    assert len({*first.numbers, *second.numbers} | third) == 3 * user.BLOCK
    first.close()
    second.close()


@linux
def test_users_are_given_back() -> None:
    first = Users()
    first.close()
    second = Users()
    assert second.numbers == first.numbers
    second.close()


def test_no_user_of_the_machine_is_taken() -> None:
    users = Users()
    users.close()
    assert {entry.pw_uid for entry in pwd.getpwall()}.isdisjoint(users.numbers)
    assert all(user.FIRST <= number <= user.LAST for number in users.numbers)


@as_root
def test_root_becomes_another_user_for_good() -> None:
    code = (
        "import os; from autograder.sandbox.layers import user; user.become(54321)\n"
        "assert os.getresuid() == os.getresgid() == (54321,) * 3 and os.getgroups() == []\n"
        "try: os.setuid(0)\nexcept PermissionError: print('refused')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "refused\n"
