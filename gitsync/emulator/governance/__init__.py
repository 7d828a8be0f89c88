"""What governs an Azure next to roles: management locks, deny assignments, and policies with their exemptions."""
