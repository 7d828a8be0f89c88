"""The meaning of the codes, as tables; desired/problems/problem_codes.py reads them."""
