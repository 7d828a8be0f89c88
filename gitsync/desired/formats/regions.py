"""The regions of all Azure clouds, and the geographies that some services have in their place.

Sources, read in 2026: Microsoft's list of regions (https://learn.microsoft.com/azure/reliability/regions-list), the
regions that the SDKs of Cosmos DB know of all clouds (`RegionUtils` in Azure/azure-sdk-for-java, `Region` in
Azure/azure-sdk-for-rust), and the output of `az account list-locations`, which has the stages and geographies. Of the
second, names are left out that no other list has and that are code names or easy mistakes: arlem, ocave,
apacsoutheast2, easteurope and northeurope2.

A region that is newer than gitsync is missing here, so a name that is not found deserves a warning and no more.
"""

from __future__ import annotations

from typing import Final

_PUBLIC = (
    # Americas
    *("brazilnortheast", "brazilsouth", "brazilsoutheast", "brazilus", "canadacentral", "canadaeast", "centralus"),
    *("chilecentral", "chilenorthcentral", "eastus", "eastus2", "eastus3", "eastusslv", "mexicocentral"),
    *("northcentralus", "northeastus5", "southcentralus", "southcentralus2", "southeastus", "southeastus3"),
    *("southeastus5", "southwestus", "westcentralus", "westcentralusfre", "westus", "westus2", "westus3"),
    # Europe
    *("austriaeast", "belgiumcentral", "denmarkeast", "finlandcentral", "francecentral", "francesouth"),
    *("germanynorth", "germanywestcentral", "greececentral", "italynorth", "northeurope", "northeurope3"),
    *("norwayeast", "norwaywest", "polandcentral", "spaincentral", "swedencentral", "swedensouth"),
    *("switzerlandnorth", "switzerlandwest", "uknorth", "uksouth", "uksouth2", "ukwest", "westeurope"),
    # Middle East and Africa
    *("israelcentral", "israelnorthwest", "qatarcentral", "saudiarabiaeast", "southafricanorth"),
    *("southafricawest", "uaecentral", "uaenorth"),
    # Asia and the Pacific
    *("australiacentral", "australiacentral2", "australiaeast", "australiasoutheast", "centralindia", "eastasia"),
    *("indiasouthcentral", "indonesiacentral", "japaneast", "japanwest", "jioindiacentral", "jioindiawest"),
    *("koreacentral", "koreasouth", "koreasouth2", "malaysiasouth", "malaysiawest", "newzealandnorth"),
    *("southeastasia", "southeastasia3", "southeastasiafoundational", "southindia", "taiwannorth"),
    *("taiwannorthwest", "westindia"),
)

_EARLY = (
    *("centraluseuap", "eastus2euap", "centralusstage", "eastusstage", "eastus2stage", "northcentralusstage"),
    *("southcentralusstage", "westusstage", "westus2stage", "eastasiastage", "southeastasiastage", "eastusstg"),
    "southcentralusstg",
)
"""Regions for early access and stages."""

_OTHER_CLOUDS = (
    # Azure Government
    *("usdodcentral", "usdodeast", "usdodsouthcentral", "usdodsouthwest", "usdodwestcentral", "usgovarizona"),
    *("usgoviowa", "usgovtexas", "usgovvirginia", "usgovwyoming", "usnateast", "usnatnorth", "usnatwest"),
    *("usseccentral", "usseceast", "ussecwest", "ussecwestcentral"),
    # China
    *("chinaeast", "chinaeast2", "chinaeast3", "chinanorth", "chinanorth2", "chinanorth3", "chinanorth10"),
    # sovereign clouds, and the former one of Germany
    *("bleufrancecentral", "bleufrancesouth", "deloscloudgermanycentral", "deloscloudgermanynorth"),
    *("germanycentral", "germanynortheast", "singaporecentral", "singaporegov", "singaporenorth"),
)

REGIONS: Final = frozenset((*_PUBLIC, *_EARLY, *_OTHER_CLOUDS))

_GEOGRAPHIES: Final = frozenset(
    (
        *("asia", "asiapacific", "australia", "austria", "belgium", "brazil", "canada", "chile", "china", "denmark"),
        *("europe", "finland", "france", "germany", "global", "greece", "india", "indonesia", "israel", "italy"),
        *("japan", "korea", "malaysia", "mexico", "newzealand", "norway", "poland", "qatar", "saudiarabia"),
        *("singapore", "southafrica", "spain", "sweden", "switzerland", "taiwan", "uae", "uk", "unitedstates"),
        *("unitedstateseuap", "usgov", "autoresolve"),  # the last: Data Factory chooses
    )
)


def is_known_region(text: str) -> bool:
    """Return whether a text, without blanks and case, is the name of a region or a geography."""
    return text in REGIONS or text in _GEOGRAPHIES
