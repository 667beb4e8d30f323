"""Results of a run: frames, measures, comparison."""
