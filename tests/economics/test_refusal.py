"""A refusal says of which field it is, and why."""

from apps.economics.refusal import Refusal


def test_its_text_has_the_field_first_and_forms_ask_for_both_apart() -> None:
    refused = Refusal("amount", "-1 is not an amount of 0 or more")

    assert str(refused) == "amount: -1 is not an amount of 0 or more"
    assert (refused.field, refused.message) == ("amount", "-1 is not an amount of 0 or more")
    assert refused.sentence == "-1 is not an amount of 0 or more."
    assert refused.errors == [
        {"field": "amount", "row": None, "message": "-1 is not an amount of 0 or more"}
    ]


def test_one_about_several_fields_names_none() -> None:
    assert str(Refusal("", "it ended already: 12:00")) == "it ended already: 12:00"
    assert Refusal("", "it ended").sentence == "It ended."
    assert Refusal("", "it ended").errors is None
