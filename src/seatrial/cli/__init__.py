"""The command line: one file per command; progress, colours and exit codes are only here."""
