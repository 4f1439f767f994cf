"""A JAAS config is parsed like in Kafka's JaasConfig; no error shows a possible password."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.client.jaas import parse_jaas
from kmirror.errors import UsageError


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("", {}),
        ('username="u" password="p"', {"username": "u", "password": "p"}),
        ("username=u1.x-y_z$ password='p\"'", {"username": "u1.x-y_z$", "password": 'p"'}),
        (r'password="a\"b\\c\td\101\7é"', {"password": 'a"b\\c\tdA\x07é'}),
        (r'password="\4011"', {"password": " 11"}),
        ('username = "u" // password="no"\n password="p"', {"username": "u", "password": "p"}),
        ('/* password="no" ; */ username="u"', {"username": "u"}),
        ('username="u" /x password="no";\n', {"username": "u"}),
        ('"user_a,b"="p"', {"user_a,b": "p"}),
        ('a="1" a="2"', {"a": "2"}),
        ("username=ü", {"username": "ü"}),
        ('/\n password="no"\n username="u"', {"username": "u"}),
        ('1="x" ,="y" username="u"', {"username": "u"}),
    ],
)
def test_options(options: str, found: dict[str, str]) -> None:
    module = parse_jaas(f"org.x.Y Required {options};")
    assert (module.name, module.options) == ("org.x.Y", found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Login module not specified"),
        ("  // nothing", "Login module not specified"),
        ("a.B", "control flag not specified"),
        ("a.B hush;", "Invalid login module control flag"),
        ("a.B required", "not terminated by semi-colon"),
        ("a.B required password=hush", "not terminated by semi-colon"),
        ("a.B required password;", "Value not specified"),
        ("a.B required password=;", "Value not specified for key 'password'"),
        ("a.B required password=123;", "not plain words"),
        ("a.B required password=-hush;", "not plain words"),
        ("a.B required username=u hush;", "Value not specified"),
        ("a.B required 1 hush;", "Value not specified for an option"),
        ("a.B required 1=2;", "Value not specified for an option"),
        ("a.B required; c.D required;", "contains 2 login modules, should be 1"),
        ("1 required;", "Login module not specified"),
        ('a.B required password="hush\n";', "Value not specified|not terminated"),
    ],
)
def test_an_invalid_config_is_reported_without_its_text(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse_jaas(text)
    assert "hush" not in str(caught.value)


@given(st.text(st.characters(exclude_characters="\n\r")), st.sampled_from("\"'"))
def test_any_line_can_be_quoted(text: str, quote: str) -> None:
    quoted = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    assert parse_jaas(f"a.B required password={quote}{quoted}{quote};").options == {"password": text}


@given(st.text(st.sampled_from("ab.-1/*=;\"'\\\n \t7é\x80"), max_size=30))
def test_any_text_is_accepted_or_refused(text: str) -> None:
    try:
        parse_jaas(f"a required {text};")
    except UsageError:
        return
