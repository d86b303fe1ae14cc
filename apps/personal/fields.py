"""The registry of personal fields: what every text, list and document of every table may hold of a person.

Each app declares its columns as `PERSONAL_FIELDS` beside its models, by model and column: one of the kinds below, or
`free(…)` with the reason. What says by its type that it holds no name (choices, digests, currencies) needs no word. A column that
nobody declared is refused by a test.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db.models import BinaryField, CharField, Field, JSONField, Model, TextField
from django.utils.module_loading import import_string

from apps.personal.names import TakenNames


@dataclass(frozen=True, slots=True)
class PersonalField:
    """A column that may name a person. `is_name`: it holds names alone, maybe with a word or two more.

    `keys` are those of a document that may; None: any text within it.
    """

    is_name: bool = False
    keys: tuple[str, ...] | None = None

    def renamed(self, value: Any, names: TakenNames) -> Any:
        """Return what is kept in place of a value: text, a list of texts, or a document."""
        if isinstance(value, str):
            return names.in_name(value) if self.is_name else names.in_text(value)
        if self.keys is None or not isinstance(value, Mapping):
            return names.in_json(value)
        return {
            key: names.in_json(item) if key in self.keys else item for key, item in value.items()
        }


@dataclass(frozen=True, slots=True)
class FreeField:
    """A column that names no person, and why."""

    reason: str


Declared: TypeAlias = PersonalField | FreeField
Declarations: TypeAlias = Mapping[str, Mapping[str, Declared]]
Reseal: TypeAlias = Callable[[Sequence[int]], None]
NAME = PersonalField(is_name=True)
"""What a scheduler or a message calls somebody."""
TEXT = PersonalField()
"""A text of people, or of Runrate, in which a name may stand: a note, a title, a label."""
DOCUMENT = PersonalField()
"""A document or a list any value of which may be, or have in it, a name: facts, drivers, tags."""
MACHINE = FreeField("names a machine, a device, a cluster or a pool of them")
MODEL = FreeField("names a model of GPU or of an API")
CODE = FreeField("a word of a list that software or a vendor has")
FIGURES = FreeField("figures under words that software has")
IDENTIFIER = FreeField("made by a cloud, a scheduler or Runrate, and means nothing by itself")
SECRET = FreeField("a secret, or what can only be compared")
CONTEXT = frozenset({"pgh_label", "pgh_context"})
"""What the database writes beside a change; the context stands in a table of its own."""
DIGESTS = ("digest",)
BY_TYPE = frozenset({"currency", "from_currency", "to_currency"})


def document(*keys: str) -> PersonalField:
    """A document of which the values under these keys may name a person, and no others."""
    return PersonalField(keys=keys)


def free(reason: str) -> FreeField:
    """A column that names no person, because of this."""
    return FreeField(reason)


def reseal_of(model: type[Model]) -> Reseal | None:
    """Return what seals rewritten rows of this table anew, given their ids, as its app's registration names it in `reseals`.

    None: they have no digest of what they say.
    """
    named = getattr(model._meta.app_config, "reseals", {}).get(model._meta.model_name)
    return None if named is None else cast(Reseal, import_string(named))


FOLDED_FROM = frozenset({"workloads.jobevent"})
"""A job is what its events say: one that is folded anew takes a name from events that still have it."""


def walked_models() -> Iterator[type[Model]]:
    """Every table of the database that has a model, tables of history too; those that others are folded from come first."""
    models = apps.get_models(include_auto_created=True)
    for model in sorted(models, key=lambda model: model._meta.label_lower not in FOLDED_FROM):
        if model._meta.managed and not model._meta.proxy:
            yield model


def textual_fields(model: type[Model]) -> Iterator["Field[Any, Any]"]:
    """The columns of a table that hold text: plain, in lists, in documents, or as bytes."""
    for field in model._meta.concrete_fields:
        base_field = field.base_field if isinstance(field, ArrayField) else field
        if isinstance(base_field, TextField | CharField | JSONField | BinaryField):
            yield field


def is_free_by_type(field: "Field[Any, Any]") -> bool:
    """Whether a column says by itself that it names nobody: of choices, a digest, a currency, what is beside a change."""
    base_field = field.base_field if isinstance(field, ArrayField) else field
    if base_field.choices or field.name in CONTEXT | BY_TYPE:
        return True
    return field.name.endswith(DIGESTS)


def declared_field(model: type[Model], field: "Field[Any, Any]") -> Declared | None:
    """Return what its app says of a column, of a table of history what is said of the table it is of; None: nothing."""
    of = getattr(model, "pgh_tracked_model", None) or model
    label = of._meta.label_lower
    return _declarations().get(label, {}).get(field.name)


def personal_fields(model: type[Model]) -> dict[str, PersonalField]:
    """The columns of a table that may name a person, by name: those that are rewritten, or sealed apart."""
    fields_by_name = {}
    for field in textual_fields(model):
        declared = declared_field(model, field)
        if isinstance(declared, PersonalField) and not is_free_by_type(field):
            fields_by_name[field.name] = declared
    return fields_by_name


def _declarations() -> dict[str, Mapping[str, Declared]]:
    declarations: dict[str, Mapping[str, Declared]] = {}
    for config in apps.get_app_configs():
        declared = getattr(config.models_module, "PERSONAL_FIELDS", {})
        for model, columns in declared.items():
            declarations[model if "." in model else f"{config.label}.{model}"] = columns
    return declarations
