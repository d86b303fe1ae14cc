"""How numbers look: money, time, unit words, rows to a Plotly figure or an SVG. Pure."""
