"""Templates' way to apps.show."""

from django import template

register = template.Library()
