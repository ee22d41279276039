"""Running a learner's answer, in the notebook or in a process that knows nothing of the exercises."""
