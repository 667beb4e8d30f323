"""Tables for `kubectl get`: the columns of each kind, and the cells of an object."""
