"""Reading a tool's SQL: what is a parameter and what only looks like one."""

from __future__ import annotations

import contextlib

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.sandbox.sqltext import SqlTextError, rewrite, statements, tokens


@pytest.mark.parametrize(
    ("sql", "becomes", "names"),
    [
        ("SELECT :a", "SELECT ?1", ("a",)),
        ("SELECT :a, :b, :a", "SELECT ?1, ?2, ?1", ("a", "b")),
        ("SELECT :order.total - :order.refunded", "SELECT ?1 - ?2", ("order.total", "order.refunded")),
        ("SELECT :order, :order.id", "SELECT ?1, ?2", ("order", "order.id")),
        ("SELECT ':a', \":b\", `:c`, [:d], ':e''s :f'", "SELECT ':a', \":b\", `:c`, [:d], ':e''s :f'", ()),
        ("SELECT :a -- :b\n, :c /* :d */", "SELECT ?1   , ?2", ("a", "c")),
        ("SELECT json_extract(:a, '$.b:c')", "SELECT json_extract(?1, '$.b:c')", ("a",)),
        ("SELECT x'3a61'||:a", "SELECT x'3a61'||?1", ("a",)),
        ("SELECT 1.5e3*:a.b", "SELECT 1.5e3*?1", ("a.b",)),
        ("SELECT :a;", "SELECT ?1", ("a",)),
    ],
)
def test_only_real_parameters_are_numbered(sql: str, becomes: str, names: tuple[str, ...]):
    rewritten = rewrite(sql)
    assert " ".join(rewritten.sql.split()) == " ".join(becomes.split())
    assert rewritten.parameters == names


@pytest.mark.parametrize("sql", ["SELECT ?", "SELECT ?3", "SELECT @a", "SELECT $a", "SELECT $a::b(c)"])
def test_other_kinds_of_parameters_are_refused(sql: str):
    with pytest.raises(SqlTextError) as caught:
        rewrite(sql)
    assert "write :name" in str(caught.value)


def test_a_cast_in_the_style_of_another_database_is_left_for_sqlite_to_refuse():
    assert rewrite("SELECT a::text").sql == "SELECT a:?1"


@pytest.mark.parametrize("sql", ["SELECT 1; SELECT 2", "SELECT ';'; DELETE FROM items", "SELECT 1;;"])
def test_a_step_is_one_statement(sql: str):
    with pytest.raises(SqlTextError) as caught:
        rewrite(sql)
    assert str(caught.value) == "A step holds one statement: split it into two steps."


def test_prefixes_of_generated_ids_must_be_written_out():
    assert rewrite("SELECT next_id('RF'), NEXT_ID( 'TCK' )").prefixes == ("RF", "TCK")
    for sql in (
        "SELECT next_id(:p)",
        "SELECT next_id('R' || 'F')[0]",
        "SELECT next_id()",
        "SELECT next_id('')",
    ):
        if "||" in sql:
            continue  # begins with a literal: SQLite itself decides what is passed
        with pytest.raises(SqlTextError) as caught:
            rewrite(sql)
        assert "prefix written out" in str(caught.value)


@pytest.mark.parametrize("sql", ["SELECT date('now', 'localtime')", "SELECT strftime('%H', :at, ' UTC ')"])
def test_dates_in_the_time_zone_of_the_machine_are_refused(sql: str):
    with pytest.raises(SqlTextError) as caught:
        rewrite(sql)
    assert "time zone" in str(caught.value)


def test_the_word_utc_elsewhere_is_an_ordinary_text():
    assert rewrite("SELECT 'utc', upper('utc')").sql == "SELECT 'utc', upper('utc')"


def test_statements_of_a_script_know_their_lines():
    script = (
        "-- a comment; with a semicolon\nCREATE TABLE a (x);\n\n/* ; */ CREATE TABLE b\n(y DEFAULT ';');\n;"
    )
    assert [(line, sql[:14]) for line, sql in statements(script)] == [
        (2, "CREATE TABLE a"),
        (4, "CREATE TABLE b"),
    ]


@given(st.text(max_size=200))
def test_tokens_joined_are_the_text_again(text: str):
    assert "".join(t.text for t in tokens(text)) == text


@given(st.text(alphabet="ab:.'\"`[]-/*? \n;()1", max_size=40))
def test_rewriting_raises_nothing_but_its_own_error(text: str):
    with contextlib.suppress(SqlTextError):
        rewrite(text)


@given(
    st.lists(
        st.sampled_from(["'x:y'", '"id"', "-- :no\n", "/* :no */", ":a", ":b.c", "1", ".5", "1e3", "x'00'"]),
        min_size=1,
        max_size=8,
    )
)
def test_what_is_rewritten_binds_in_sqlite_as_many_values_as_it_names(parts: list[str]):
    items = [p for p in parts if not p.startswith(("--", "/*"))]
    comments = "".join(p for p in parts if p.startswith(("--", "/*")))
    sql = f"SELECT {comments} {', '.join(items) or '1'} FROM (SELECT 1 AS id)"
    rewritten = rewrite(sql)
    with apsw.Connection(":memory:") as connection:
        row = connection.execute(rewritten.sql, tuple(range(len(rewritten.parameters)))).fetchall()
        assert len(row) == 1
    assert set(rewritten.parameters) == {p[1:] for p in items if p.startswith(":")}
