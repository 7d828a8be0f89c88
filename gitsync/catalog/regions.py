"""The regions of all clouds of Azure, and the geographies that some services have in their place.

Sources: the regions of the Azure SDKs, and `az account list-locations`. A region that is newer than gitsync is missing
here, so a text that is missing is a doubt and no mistake.
"""

from __future__ import annotations

from typing import Final

REGIONS: Final = frozenset(
    (
        *("brazilsouth", "brazilsoutheast", "brazilus", "canadacentral", "canadaeast", "chilecentral"),
        *("mexicocentral", "centralus", "eastus", "eastus2", "eastus3", "northcentralus", "northeastus5"),
        *("southcentralus", "southcentralus2", "southeastus", "southeastus3", "southeastus5", "southwestus"),
        *("westcentralus", "westus", "westus2", "westus3", "centraluseuap", "eastus2euap", "centralusstage"),
        *("eastusstage", "eastus2stage", "northcentralusstage", "southcentralusstage", "westusstage"),
        *("westus2stage", "eastasiastage", "southeastasiastage", "eastusstg", "southcentralusstg"),
        *("austriaeast", "austriawest", "belgiumcentral", "denmarkeast", "finlandcentral", "francecentral"),
        *("francesouth", "germanycentral", "germanynorth", "germanynortheast", "germanywestcentral"),
        *("greececentral", "italynorth", "northeurope", "norwayeast", "norwaywest", "polandcentral"),
        *("spaincentral", "swedencentral", "swedensouth", "switzerlandnorth", "switzerlandwest", "uksouth"),
        *("uksouth2", "uknorth", "ukwest", "westeurope", "israelcentral", "israelnorthwest", "qatarcentral"),
        *("saudiarabiacentral", "saudiarabiaeast", "southafricanorth", "southafricawest", "uaecentral"),
        *("uaenorth", "australiacentral", "australiacentral2", "australiaeast", "australiasoutheast"),
        *("centralindia", "eastasia", "indiasouthcentral", "indonesiacentral", "japaneast", "japanwest"),
        *("jioindiacentral", "jioindiawest", "koreacentral", "koreasouth", "koreasouth2", "malaysiacentral"),
        *("malaysiasouth", "malaysiawest", "newzealandnorth", "singapore", "southeastasia", "southindia"),
        *("taiwannorth", "taiwannorthwest", "thailandsouth", "westindia", "chinaeast", "chinaeast2"),
        *("chinaeast3", "chinanorth", "chinanorth2", "chinanorth3", "usdodcentral", "usdodeast"),
        *("usgovarizona", "usgoviowa", "usgovtexas", "usgovvirginia", "usnateast", "usnatwest", "usseceast"),
        *("ussecwest", "ussecwestcentral", "bleufrancecentral", "bleufrancesouth", "deloscloudgermanycentral"),
        *("deloscloudgermanynorth", "singaporecentral", "singaporenorth"),
    )
)

_GEOGRAPHIES: Final = frozenset(
    (
        *("africa", "asia", "asiapacific", "australia", "austria", "belgium", "brazil", "canada", "chile"),
        *("china", "denmark", "europe", "finland", "france", "germany", "global", "greece", "india"),
        *("indonesia", "israel", "italy", "japan", "korea", "malaysia", "mexico", "newzealand", "norway"),
        *("poland", "qatar", "saudiarabia", "southafrica", "spain", "sweden", "switzerland", "taiwan", "uae"),
        *("uk", "unitedstates", "unitedstateseuap", "us", "usgov", "usgovernment", "autoresolve"),
    )
)


def is_known_region(text: str) -> bool:
    """Tell whether a text, without blanks and case, is the name of a region or a geography."""
    return text in REGIONS or text in _GEOGRAPHIES
