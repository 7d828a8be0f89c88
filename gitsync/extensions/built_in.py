"""What is registered here, of all groups. Apart from the registry, which makes chains of it."""

from __future__ import annotations

from gitsync.extensions import (
    app,
    cdn,
    compute,
    containerservice,
    dataprotection,
    dbforpostgresql,
    documentdb,
    insights,
    kusto,
    machinelearningservices,
    network,
    redhatopenshift,
    servicebus,
    sql,
)
from gitsync.extensions.points import Extensions

BUILT_IN: Extensions = (
    *app.EXTENSIONS,
    *cdn.EXTENSIONS,
    *compute.EXTENSIONS,
    *containerservice.EXTENSIONS,
    *dataprotection.EXTENSIONS,
    *dbforpostgresql.EXTENSIONS,
    *documentdb.EXTENSIONS,
    *insights.EXTENSIONS,
    *kusto.EXTENSIONS,
    *machinelearningservices.EXTENSIONS,
    *network.EXTENSIONS,
    *redhatopenshift.EXTENSIONS,
    *servicebus.EXTENSIONS,
    *sql.EXTENSIONS,
)
