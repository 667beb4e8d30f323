"""Seatrial's own measures, one file each; every one says in its docstring what it is."""
