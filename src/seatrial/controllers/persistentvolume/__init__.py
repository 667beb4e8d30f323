"""PersistentVolume controllers: binding, provisioning, ephemeral claims, protection."""
