"""What runs beside the student's code, in its process: knows no test, no solution, no expected value."""
