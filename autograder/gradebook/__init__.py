"""A whole class: read exports, grade in parallel, lose no grade, write reports."""
