"""The cluster controllers, as cooperative work queues."""
