"""Lines of TOML keys: the same keys that tomllib finds, each on the line where it is written."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multikernel.files._toml_lines import key_lines

HARD = '''# target = "in a comment"
target = "a # b" # and [not.a.header]
text = """
[sources.fake]
fake = 1 \\"""
"""
literal = \'\'\'
fake = 2
\'\'\'\'
"quoted key" . inner = \'it\\\'
when = 1979-05-27 07:32:00
list = [ # comment with ]
  "x", # one
  {rbf = [0.25, 1,
    4]},
  [],
]
[ sources . "m.rna" ]
file = "mrna.csv"
kernels = ["linear", {rbf = {width = [1, 2], scale = "median"}}]
[[part]]
n = 1
[part.deep]
k = true
[[part]]
n = 2
[[part.inner]]
z = inf
'''


def paths_of(value, prefix=()):
    """Every path of keys and positions in a parsed document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*prefix, key)
        if isinstance(item, dict | list):
            yield from paths_of(item, (*prefix, key))


def test_the_scanner_finds_the_keys_of_tomllib_in_a_hard_text():
    assert set(key_lines(HARD)) == set(paths_of(tomllib.loads(HARD)))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("target",), 2),
        (("text",), 3),
        (("literal",), 7),
        (("quoted key", "inner"), 10),
        (("list",), 12),
        (("list", 0), 13),
        (("list", 1, "rbf"), 14),
        (("list", 1, "rbf", 2), 15),
        (("sources", "m.rna"), 18),
        (("sources", "m.rna", "kernels", 1, "rbf", "width"), 20),
        (("part",), 21),
        (("part", 0, "deep", "k"), 24),
        (("part", 1), 25),
        (("part", 1, "inner", 0, "z"), 28),
    ],
)
def test_lines_of_a_hard_text(path, line):
    assert key_lines(HARD)[path] == line


names = st.text("ab_-1", min_size=1, max_size=4)
strings = st.text(st.sampled_from("a#]}['\"\\\n,=."), max_size=6)


def quoted(text):
    """A TOML string, over several lines where it holds line ends."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""\n{escaped}"""' if "\n" in text else f'"{escaped}"'


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(names, st.lists(strings, min_size=1, max_size=3), min_size=1))
def test_every_key_is_on_the_line_that_begins_with_it(content):
    text = "".join(f"{key} = [{', '.join(map(quoted, v))}]\n\n" for key, v in content.items())
    assert tomllib.loads(text) == content
    lines = text.split("\n")
    found = key_lines(text)
    assert set(found) == set(paths_of(content))
    for key in content:
        assert lines[found[(key,)] - 1].startswith(f"{key} = [")
