"""Authentication: tokens, certificates, and the kubeconfig that carries them."""
