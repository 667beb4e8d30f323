"""What `kubectl get` prints: the columns of each kind and how a cell is read from a document."""
