"""The commands of `vcsimctl`, one module for each subject."""
