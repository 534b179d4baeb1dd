"""Static files come whole, from every host, with what a browser needs to keep them."""

from __future__ import annotations

from django.test import Client

CSS = "/static/admin/css/base.css"


def test_a_static_file_is_sent_as_a_whole_with_its_type_and_the_security_policy(platform_db: None) -> None:
    answer = Client(HTTP_HOST="acme.localhost").get(CSS)
    assert answer.status_code == 200 and not answer.streaming
    assert answer["Content-Type"].startswith("text/css")
    assert len(answer.content) == int(answer["Content-Length"]) > 1000
    assert "default-src 'self'" in answer["Content-Security-Policy"]


def test_a_file_that_the_browser_has_is_not_sent_again(platform_db: None) -> None:
    first = Client(HTTP_HOST="acme.localhost").get(CSS)
    again = Client(HTTP_HOST="acme.localhost").get(CSS, HTTP_IF_MODIFIED_SINCE=first["Last-Modified"])
    assert again.status_code == 304 and again.content == b""
    assert Client(HTTP_HOST="acme.localhost").head(CSS).content == b""


def test_no_path_leads_out_of_the_static_files(platform_db: None) -> None:
    client = Client(HTTP_HOST="acme.localhost")
    for path in ("/static/../manage.py", "/static/%2e%2e/manage.py", "/static/admin/../../manage.py"):
        assert client.get(path).status_code == 404
