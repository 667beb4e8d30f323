"""The Scenario as written: decoding, generators, validation, lint, and the plan of operations."""
