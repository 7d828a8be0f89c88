"""The table of fields that Azure fixes, from models of packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "build_immutable_fields.py"

MODELS = '''
class TrackedResource(_Model):
    location: str = rest_field(visibility=["read", "create"])
    tags: Optional[dict[str, str]] = rest_field(visibility=["read", "create", "update"])

class Disk(TrackedResource):
    properties: Optional["_models.DiskProperties"] = rest_field(visibility=["read", "create", "update"])

class DiskProperties(_Model):
    os_type: Optional[str] = rest_field(name="osType", visibility=["read", "create"])
    """The operating system."""
    disk_size_gb: Optional[int] = rest_field(name="diskSizeGB", visibility=["read", "create", "update"])
    """The size."""
    hyper_v: Optional[str] = rest_field(name="hyperVGeneration", visibility=["read", "create", "update"])
    """This property cannot be
    changed after the disk is created."""
    tier: Optional[str] = rest_field(name="tier", visibility=["read", "create", "update"])
    """This property cannot be changed after the create, unless the disk is detached."""
    unknown: Optional[str] = rest_field(name="notInTheCatalog", visibility=["read", "create"])
    many: Optional[list["_models.Disk"]] = rest_field(name="many", visibility=["read", "create", "update"])
'''
OPERATIONS = """
def build_disks_create_or_update_request(name, **kwargs):
    _url = "/subscriptions/{subscriptionId}/resourceGroups/{group}/providers/Microsoft.Compute/disks/{disk}"
    return HttpRequest(method="PUT", url=_url)

class DisksOperations:
    def _create_or_update_initial(self, name: str, disk: Union[_models.Disk, IO[bytes]]):
        _request = build_disks_create_or_update_request(name)

    def begin_create_or_update(self, name: str, disk: _models.Disk):
        pass
"""


def test_fixed_fields_of_a_package(tmp_path):
    for name, text in (("models/_models.py", MODELS), ("operations/_operations.py", OPERATIONS)):
        file = tmp_path / "azure" / "mgmt" / "compute" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    table = tmp_path / "table.tsv"
    subprocess.run([sys.executable, TOOL, tmp_path, f"--file={table}"], check=True, capture_output=True)
    rows = [line for line in table.read_text().splitlines() if line.startswith("microsoft.compute/disks\t")]
    assert rows == [
        "microsoft.compute/disks\t/properties/hyperVGeneration\tdescribed",
        "microsoft.compute/disks\t/properties/osType\tcreate-only",
    ]
