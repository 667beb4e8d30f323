"""What HAPPENED: append-only record, both KEP-140 wire shapes, decision annotations."""
