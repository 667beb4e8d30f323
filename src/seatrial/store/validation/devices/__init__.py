"""Validation of resource.k8s.io kinds: claims, classes, slices."""
