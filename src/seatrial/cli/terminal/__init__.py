"""What commands show: tables, progress, comparisons, findings, and the end of help texts."""
