"""The semantic rules of built-in kinds: what types and required fields cannot say, and what may never change."""
