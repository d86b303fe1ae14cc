"""The inventory over the wire: clusters, pools, nodes, devices, agents, outages, enrolments."""
