"""Results of a run: one reader for every input, frames, measures, explanations, comparison."""
