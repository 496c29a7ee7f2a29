"""Checks the grading with misconceptions, correct alternatives and generated mutants."""
