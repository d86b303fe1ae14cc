"""Declarations of the personal data that the columns of this app may hold: see apps.personal.fields."""

from apps.personal.fields import CODE, FIGURES, MODEL, TEXT, Declarations

PERSONAL_FIELDS: Declarations = {
    "runfigures": {
        "bucket_micros": FIGURES,
        "bucket_unit_ms": FIGURES,
        "gpu_model": MODEL,
        "key": TEXT,
        "mfu_doubt": TEXT,
        "status": CODE,
    },
    "servicecount": {"feature": TEXT},
    "serviceday": {"feature": TEXT},
    "servicetotal": {"measure": CODE},
}
