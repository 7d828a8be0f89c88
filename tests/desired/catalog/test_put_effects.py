"""What a PUT does to members that its body lacks, by recordings."""

from gitsync.desired.catalog.packed_tables import PutEffect, read_put_effects


def test_a_type_is_found_in_any_case():
    effects = read_put_effects("Microsoft.Kusto/Clusters")
    assert effects["/sku/capacity"] == PutEffect(is_kept=False, count=1, default=2)


def test_a_member_that_azure_keeps():
    assert read_put_effects("microsoft.web/sites/slots")["/properties/serverFarmId"].is_kept


def test_a_type_without_recordings_has_none():
    assert read_put_effects("Contoso.Things/things") == {}
