"""What REACTS: the cluster controllers, as cooperative work queues."""
