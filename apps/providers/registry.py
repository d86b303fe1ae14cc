"""Every cloud there is, by its key: the one place that choices, forms, commands and pages ask."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from apps import providers
from apps.providers.cloud import CloudProvider, CloudRefused
from apps.providers.reading import BillReader, FactReader


@cache
def clouds() -> Mapping[str, CloudProvider]:
    """Each folder's `CLOUD`, in the order of their keys. Reads no library of any cloud."""
    clouds_by_name = {
        folder.name: _cloud_of(folder.name)
        for folder in iter_modules(providers.__path__)
        if folder.ispkg
    }
    return MappingProxyType(dict(sorted(clouds_by_name.items())))


def readings_of(key: str) -> tuple[str, ...]:
    """The kinds of what can be read of the cloud; none of one that nobody knows."""
    cloud = clouds().get(key)
    return cloud.readings if cloud else ()


def permissions_for(key: str, kind: str) -> tuple[str, ...]:
    """Return what whoever reads `kind` must be allowed, as the cloud calls it; none where it has none."""
    cloud = clouds().get(key)
    return cloud.permissions.get(kind, ()) if cloud else ()


def label_of(key: str) -> str:
    """Return the name that people give a cloud; the key itself of one that is not read from."""
    cloud = clouds().get(key)
    return cloud.label if cloud else key


def reader_of(key: str, kind: str) -> FactReader:
    """Return what reads `kind` of the cloud; loads its libraries, for seconds.

    Refuses CloudRefused where nothing does.
    """
    if kind not in readings_of(key):
        raise CloudRefused(f"nothing here reads {kind} of {label_of(key)}")
    readers: Mapping[str, FactReader] = import_module(f"{_folder_module(key)}.reader").READERS
    return readers[kind]


def bill_reader_of(key: str) -> BillReader:
    """Return what opens the place where the cloud delivers an account's bills; loads its libraries.

    Refuses CloudRefused where nothing does.
    """
    if "bills" not in readings_of(key):
        raise CloudRefused(f"nothing here reads bills of {label_of(key)}")
    opens: BillReader = import_module(f"{_folder_module(key)}.reader").open_bills
    return opens


def _cloud_of(name: str) -> CloudProvider:
    cloud: CloudProvider = import_module(_folder_module(name)).CLOUD
    if cloud.key != name:
        raise ValueError(f"the folder {name} has the cloud {cloud.key!r}: they are called alike")
    return cloud


def _folder_module(key: str) -> str:
    return f"{providers.__name__}.{key}"
