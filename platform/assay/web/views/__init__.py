"""Pages, by noun. A view reads rows, calls one service and picks a template; it decides nothing."""
