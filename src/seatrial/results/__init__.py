"""What it MEANS: frames, measures, comparison."""
