"""The diagnosis of `doctor`: findings from reports, plans and state."""
