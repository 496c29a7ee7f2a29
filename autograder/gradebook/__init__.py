"""Grades a whole class: reads exports, grades in parallel and writes reports."""
