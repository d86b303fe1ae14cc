"""What a dcgm-exporter on the node tells: for fleets that run one already."""
