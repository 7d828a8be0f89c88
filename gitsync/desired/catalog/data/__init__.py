"""The packed catalog, as files in the package. tools/build_catalog.py builds it for desired/catalog/catalog.py."""

from __future__ import annotations

import pkgutil


def read(name: str) -> bytes:
    """Content of one packed file; FileNotFoundError if it does not exist.

    By pkgutil, which reads from a zipped package too and costs a tenth of the import of importlib.resources.
    """
    content = pkgutil.get_data(__name__, name)
    if content is None:
        raise FileNotFoundError(name)
    return content
