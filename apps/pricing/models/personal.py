"""Declarations of what the columns of this app may hold of a person: see apps.personal.fields."""

from apps.personal.fields import CODE, FIGURES, IDENTIFIER, MACHINE, MODEL, TEXT, Declarations

PERSONAL_FIELDS: Declarations = {
    "apiprice": {"model": MODEL, "tier": CODE, "vendor": CODE},
    "apivendor": {"vendor": CODE},
    "cloudquota": {
        "account": IDENTIFIER,
        "code": CODE,
        "name": CODE,
        "provider": CODE,
        "region": CODE,
        "unit": CODE,
    },
    "commitment": {
        "account": IDENTIFIER,
        "external_id": IDENTIFIER,
        "gpu_model": MODEL,
        "instance_type": MACHINE,
        "name": TEXT,
        "platform": CODE,
        "prices": FIGURES,
        "provider": CODE,
        "region": CODE,
        "source": TEXT,
        "tenancy": CODE,
    },
    "exchangerate": {"source": TEXT},
    "nodepricepolicy": {"note": TEXT},
    "ownedcost": {"name": TEXT},
    "ownedplan": {"name": TEXT},
    "rate": {
        "doubt": TEXT,
        "gpu_model": MODEL,
        "instance_type": MACHINE,
        "provider": CODE,
        "region": CODE,
        "source": TEXT,
        "target": IDENTIFIER,
        "tiers": FIGURES,
    },
    "sharedcost": {"name": TEXT},
    "spotrepeat": {"target": IDENTIFIER},
}
