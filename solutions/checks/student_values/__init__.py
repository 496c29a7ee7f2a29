"""The kit's files on values; in the students' folder, `autograder build` replaces this file with copies of them."""

from autograder import shared

__path__ = shared.__path__
