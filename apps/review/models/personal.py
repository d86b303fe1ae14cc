"""Declarations of the personal data that the columns of this app may hold: see apps.personal.fields."""

from apps.personal.fields import CODE, DOCUMENT, FIGURES, NAME, SECRET, TEXT, Declarations, free

PERSONAL_FIELDS: Declarations = {
    "alert": {
        "facts": DOCUMENT,
        "link": TEXT,
        "matter": TEXT,
        "state_name": NAME,
        "state_reason": TEXT,
        "title": TEXT,
    },
    "alertchannel": {
        "address": TEXT,
        "key_salt": SECRET,
        "name": TEXT,
        "paused_reason": TEXT,
        "shown_address": TEXT,
    },
    "alertentry": {"facts": DOCUMENT, "reason": TEXT, "title": TEXT, "who": NAME},
    "anomalyverdict": {
        "reason": TEXT,
        "series": TEXT,
        "taken_back_reason": TEXT,
        "taken_back_who": NAME,
        "who": NAME,
    },
    "chartnote": {"text": TEXT},
    "finding": {"causes": DOCUMENT, "feature": TEXT, "parts": DOCUMENT},
    "messageattempt": {"outcome": TEXT},
    "recommendation": {
        "kind": CODE,
        "matter": TEXT,
        "proposal": DOCUMENT,
        "state_name": NAME,
        "state_reason": TEXT,
    },
    "recommendationlook": {"kinds": FIGURES, "waste": DOCUMENT},
    "recommendationoutcome": {"measured": DOCUMENT, "promise": DOCUMENT},
    "recommendationstep": {"who": NAME, "why": TEXT},
    "reviewfile": {
        "content": free("a PDF of its review: removed and set anew with the review that it is of")
    },
    "reviewnote": {"author_name": NAME, "text": TEXT, "week": CODE},
    "savingmeasurement": {"measured": DOCUMENT, "promise": DOCUMENT, "why": TEXT},
    "spendanomaly": {
        "causes": DOCUMENT,
        "drivers": DOCUMENT,
        "key": TEXT,
        "line_name": TEXT,
        "look": CODE,
        "name": TEXT,
        "parts": DOCUMENT,
        "seen_in": DOCUMENT,
    },
    "weeklyreview": {"content": DOCUMENT, "reason": TEXT, "week": CODE},
    "weeklyreviewworkload": {"content": DOCUMENT, "verdict": CODE},
}
