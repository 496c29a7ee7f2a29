"""The kit's files on values; in the students' folder, `autograder build` replaces this file with copies of them."""

from autograder import values

__path__ = values.__path__
