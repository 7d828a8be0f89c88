"""The rules by which two leaves mean the same to Azure: one module a family; their order is in `diff/equivalence`."""
