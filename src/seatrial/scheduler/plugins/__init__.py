"""The plugins that kube-scheduler v1.36.3 ships, one file each, named as upstream names them."""
