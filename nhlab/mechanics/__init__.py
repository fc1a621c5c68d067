"""Systems: coordinates, Lagrangian, constraints; derived expressions; groups; catalogue."""
