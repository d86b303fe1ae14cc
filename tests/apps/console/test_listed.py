"""Tables in the order and the part that the address asks for."""

from django.http import QueryDict

from apps.console.pages.listed import Asked, By, Listed, listed

Row = tuple[str, int | None]
COLUMNS: dict[str, By[Row]] = {
    "name": By("Name", lambda row: row[0]),
    "size": By("Size", lambda row: row[1], is_number=True),
    "note": By("Note"),
}
ROWS = [("b", 2), ("A", None), ("c", 10)]


def asked(
    address: str, *, rows: list[tuple[str, int | None]] = ROWS, per_page: int = 100
) -> Listed:
    question = Asked(QueryDict(address), "/things", name="of", part="list", per_page=per_page)
    return listed(rows, COLUMNS, question)


def test_without_an_order_rows_stay_as_they_come() -> None:
    found = asked("")
    assert found.rows == tuple(ROWS)
    assert [column.order for column in found.columns] == ["", "", ""]
    assert found.said == "3 rows"


def test_an_order_is_marked_and_turns_when_it_is_asked_for_again() -> None:
    found = asked("of=size&window=7d")
    name, size, note = found.columns
    assert [row[0] for row in found.rows] == ["b", "c", "A"]
    assert (size.order, size.href) == ("ascending", "/things?window=7d&of=-size#list")
    assert (name.order, name.href) == ("", "/things?window=7d&of=name#list")
    assert (note.order, note.href) == ("", "")


def test_what_is_not_known_comes_last_either_way() -> None:
    assert [row[0] for row in asked("of=-size").rows] == ["c", "b", "A"]
    assert [row[0] for row in asked("of=size").rows] == ["b", "c", "A"]


def test_numbers_begin_with_the_largest_and_words_at_a() -> None:
    name, size, _ = asked("").columns
    assert size.href == "/things?of=-size#list"
    assert name.href == "/things?of=name#list"
    assert [row[0] for row in asked("of=name").rows] == ["A", "b", "c"]


def test_a_long_list_comes_in_parts_that_keep_the_order_and_say_the_whole() -> None:
    found = asked("of=-size&of-page=2", rows=[(str(each), each) for each in range(5)], per_page=2)
    assert [row[0] for row in found.rows] == ["2", "1"]
    assert found.said == "3–4 of 5 rows"
    assert (found.before.href, found.after.href) == (
        "/things?of=-size#list",
        "/things?of=-size&of-page=3#list",
    )


def test_a_part_beyond_the_end_is_the_last_one_and_nonsense_the_first() -> None:
    rows = [(str(each), each) for each in range(5)]
    assert [row[0] for row in asked("of-page=99", rows=rows, per_page=2).rows] == ["4"]
    for nonsense in ("-1", "0", "x", "999999999", "٣"):
        found = asked(f"of-page={nonsense}", rows=rows, per_page=2)
        assert [row[0] for row in found.rows] == ["0", "1"]
    assert asked("", rows=[]).said == "0 rows"


def test_an_order_that_there_is_not_is_said_and_left() -> None:
    for odd in ("price", "note", "-"):
        found = asked(f"of={odd}")
        assert found.rows == tuple(ROWS)
    assert asked("of=price").problem == "There is no column 'price' to order by."
