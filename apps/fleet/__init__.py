"""The fleet that we own or rent: clusters, pools, nodes, devices and agents."""
