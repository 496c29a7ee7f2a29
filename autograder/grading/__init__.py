"""Grades a Submission; returns a Result (docs/explanation/grading.md)."""
