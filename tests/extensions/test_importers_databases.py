"""What of a database server is worth a manifest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.extensions.api import imported, skipped
from gitsync.model.arm_id import ArmId
from tests.extensions.asking import REGISTRY, subject, with_

SERVER = "/subscriptions/s/resourceGroups/g/providers/Microsoft.DBforPostgreSQL/flexibleServers/db"
POSTGRES = ("dbforpostgresql.azure.com", "FlexibleServersConfiguration")
MYSQL = ("dbformysql.azure.com", "FlexibleServersConfiguration")
DATABASE = ("dbforpostgresql.azure.com", "FlexibleServersDatabase")


class Loader:
    """The rest of the chain: gives the resource as Azure has it."""

    def __init__(self, live=None, answer=None):
        self.live = live
        self.answer = answer or imported()
        self.loads = 0

    async def __call__(self, about):
        self.loads += 1
        return replace(about, live=self.live), self.answer


async def reason(kind, loader, name="it"):
    about = replace(subject(*kind), arm_id=ArmId(f"{SERVER}/things/{name}"))
    read, answer = await REGISTRY.import_(about, loader)
    assert read.live is loader.live or not loader.loads
    return answer.skipped


@pytest.mark.parametrize(
    ("kind", "properties", "says", "why"),
    [
        (MYSQL, {"source": "system-default"}, "system default", "nobody has set it"),
        (MYSQL, {"source": "System-Default"}, "system default", "the source has no case there"),
        (POSTGRES, {"source": "system-default"}, "system default", "nobody has set it"),
        (POSTGRES, {"source": "System-Default"}, "", "the source has case there"),
        (MYSQL, {"source": "user-override", "isReadOnly": "True"}, "read-only", "MySQL says so in text"),
        (MYSQL, {"isReadOnly": "true"}, "", "letter by letter"),
        (MYSQL, {"isReadOnly": True}, "", "MySQL has text there"),
        (POSTGRES, {"isReadOnly": True}, "read-only", "PostgreSQL has a truth there"),
        (POSTGRES, {"isReadOnly": "True"}, "", "and not text"),
        (POSTGRES, {"isReadOnly": 1}, "", "nor a number"),
        (POSTGRES, {"isReadOnly": False}, "", "it can be set"),
        (MYSQL, {"defaultValue": "ON", "value": "ON"}, "value is the default", "a manifest would change nothing"),
        (POSTGRES, {"defaultValue": "on", "value": "on"}, "value is the default", "the same"),
        (POSTGRES, {"defaultValue": "on", "value": "off"}, "", "somebody has set it"),
        (POSTGRES, {"defaultValue": "on"}, "", "both must be there"),
        (POSTGRES, {"value": "on"}, "", "both must be there"),
        (POSTGRES, {"defaultValue": None, "value": None}, "", "both must be there"),
        (POSTGRES, {"source": "system-default", "isReadOnly": True}, "system default", "the first that fits"),
        (POSTGRES, {}, "", "nothing against it"),
    ],
)
async def test_only_parameters_that_somebody_has_set(kind, properties, says, why):
    answer = await reason(kind, Loader(with_(**properties)))
    assert (says in answer) if says else answer == "", why


@pytest.mark.parametrize("kind", [MYSQL, POSTGRES], ids="-".join)
async def test_what_was_left_out_already_stays_left_out(kind):
    assert await reason(kind, Loader(None, skipped("it was not found"))) == "it was not found"


@pytest.mark.parametrize("kind", [MYSQL, POSTGRES], ids="-".join)
async def test_a_parameter_of_which_nothing_is_told_is_taken(kind):
    assert await reason(kind, Loader(None)) == ""


@pytest.mark.parametrize(
    ("name", "says", "why"),
    [
        ("azure_maintenance", "no access", "not for users"),
        ("azure_sys", "built in", "Azure's own"),
        ("postgres", "built in", "comes with the server"),
        ("Postgres", "", "names have case"),
        ("mine", "", "somebody's own"),
    ],
)
async def test_only_databases_of_users(name, says, why):
    loader = Loader(with_())
    answer = await reason(DATABASE, loader, name)
    assert (says in answer) if says else answer == "", why
    assert loader.loads == (0 if says else 1), "those that are left out are not even read"


async def test_databases_of_mysql_are_all_taken():
    assert await reason(("dbformysql.azure.com", "FlexibleServersDatabase"), Loader(with_()), "mysql") == ""
