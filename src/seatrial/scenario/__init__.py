"""What is ASKED: operations, steps, waiters, the run itself."""
