"""One run: from SOURCE to the report, with every resource reconciled on the way."""
