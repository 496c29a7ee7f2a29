"""Grading: a Submission goes in, a Result comes out (docs/explanation/grading.md)."""
