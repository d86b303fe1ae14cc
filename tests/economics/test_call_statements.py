"""Of several statements of one call one is counted, the one that says most, and differences are said."""

from typing import Any

import pytest

from apps.economics.call_statements import CallStatement, judge_statements

REST, GATEWAY, SPAN = 1, 2, 3


def told(id: int, **given: Any) -> CallStatement:
    values: dict[str, Any] = {
        "source": "otel:0",
        "key": f"t/{id}",
        "parent_key": "",
        "response_id": "",
        "door": SPAN,
        "is_ours": True,
        "is_owned": True,
        "counts": (100, None, None, 10, None),
    }
    return CallStatement(id=id, **values | given)


def counted(*statements: CallStatement) -> set[int]:
    return {id for id, is_counted in judge_statements(statements).counted.items() if is_counted}


def test_of_one_response_the_statement_with_tokens_counts_however_late_it_comes() -> None:
    poor = told(1, response_id="r", counts=(None,) * 5)
    assert counted(poor, told(2, response_id="r")) == {2}
    assert counted(
        told(1, response_id="r", door=REST, counts=(None,) * 5), told(2, response_id="r")
    ) == {2}


def test_of_two_spans_of_a_response_the_richer_counts_and_both_values_are_said() -> None:
    first = told(1, response_id="r", counts=(100, None, None, 1, None))
    last = told(2, response_id="r", counts=(100, None, None, 5_000, None))
    judgement = judge_statements([first, last])
    assert {id for id, is_counted in judgement.counted.items() if is_counted} == {2}
    (found,) = judgement.contradictions
    assert (found.field, found.counted, found.other) == ("output_tokens", 5_000, 1)
    assert "5000 is taken, another says 1" in found.message


def test_the_vendors_own_answer_is_taken_before_what_a_gateway_counted() -> None:
    answer = told(1, source="rest:0", key="r", response_id="r", door=REST)
    gateway = told(
        2, source="litellm:0", key="r", response_id="r", door=GATEWAY, counts=(101, 0, 0, 10, 0)
    )
    assert counted(answer, gateway) == {1}


def test_a_span_in_a_span_is_one_call() -> None:
    outer, inner = told(1), told(2, parent_key="t/1")
    assert counted(outer, inner) == {2}
    assert counted(outer, told(2, parent_key="t/1", counts=(None,) * 5)) == {1}


@pytest.mark.parametrize("richest", [1, 2, 3])
def test_a_chain_of_three_spans_is_one_call_whichever_says_most(richest: int) -> None:
    chain = [
        told(
            id,
            parent_key=f"t/{id - 1}" if id > 1 else "",
            counts=(100 + (id == richest), 0, 0, 1, 0),
        )
        for id in (1, 2, 3)
    ]
    assert counted(*chain) == {richest}


def test_a_span_that_holds_several_calls_is_none_and_each_of_them_is_one() -> None:
    loop = told(1, counts=(300, None, None, 30, None))
    assert counted(loop, told(2, parent_key="t/1"), told(3, parent_key="t/1")) == {2, 3}


def test_calls_of_one_agent_are_each_their_own() -> None:
    # The agent's span is no call and is not among them.
    assert counted(told(2, parent_key="t/1"), told(3, parent_key="t/1")) == {2, 3}


def test_a_framework_its_client_and_a_gateway_tell_of_one_call() -> None:
    framework = told(1)
    client = told(2, parent_key="t/1", response_id="r")
    gateway = told(3, source="litellm:0", key="r", response_id="r", door=GATEWAY)
    assert counted(framework, client, gateway) == {3}


def test_a_teams_token_displaces_no_other_and_the_organisations_displaces_all() -> None:
    one = told(1, source="otel:5", response_id="r", is_ours=False)
    other = told(2, source="otel:6", response_id="r", is_ours=False, key="t/9")
    assert counted(one, other) == {1, 2}
    assert counted(one, other, told(3, response_id="r")) == {3}


def test_a_teams_counts_are_taken_where_the_organisation_has_none() -> None:
    nothing = (None,) * 5
    poor = told(1, response_id="r", counts=nothing)
    team = told(2, source="rest:5", response_id="r", door=REST, is_ours=False)
    assert counted(poor, team) == {2}
    assert counted(team, poor) == {2}
    assert counted(poor, team, told(3, response_id="r", door=GATEWAY)) == {3}
    assert counted(
        poor, told(4, source="rest:5", is_ours=False, counts=nothing, response_id="r")
    ) == {1}


def test_who_owns_a_call_is_said_by_the_first_that_knows() -> None:
    unowned = told(1, source="rest:0", key="r", response_id="r", door=REST, is_owned=False)
    judgement = judge_statements([unowned, told(2, response_id="r")])
    assert judgement.owners == {1: 2}
