"""Checks the grading with misconceptions, correct alternatives and machine-made mutants."""
