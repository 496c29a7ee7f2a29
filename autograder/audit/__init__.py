"""Is the grading right? Known mistakes, correct alternatives and machine-made mutants against every criterion."""
