"""Everything that runs code: the processes of a submission, what they receive besides it, and known code in this process."""
