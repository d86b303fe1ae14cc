"""How each answer of *Plan* is computed: declared once, for the console's page and for docs/planning.md."""

from apps.console.kit.methods.answers import ANSWERS, PAGES, method_of_page
from apps.console.kit.methods.method import FIELDS, AnswerMethod
