"""What commands show: tables, progress, the end of help texts, and interruptions."""
