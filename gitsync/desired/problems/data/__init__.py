"""The meaning of the codes, as tables; problems/problem_codes.py reads them."""
