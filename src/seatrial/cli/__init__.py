"""One file per command; progress, colours and exit codes live only here."""
