"""The timeline of a run: append-only record, both KEP-140 wire shapes, decision annotations."""
