"""From a manifest to the ARM request that it stands for."""
