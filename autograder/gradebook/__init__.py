"""A whole class: exports read, submissions graded in parallel, no grade lost, a report written."""
