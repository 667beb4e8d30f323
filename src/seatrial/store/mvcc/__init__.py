"""Revisions, the index of current objects, and the history window for watches."""
