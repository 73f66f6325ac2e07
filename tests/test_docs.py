"""Documents and wiring stay true."""

import ast
import re
from pathlib import Path

import pytest
from scrapy.utils.misc import load_object

from sitemapcrawl import arguments, settings
from sitemapcrawl.frontier.keys import Keys

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "sitemapcrawl"
PURE = ("seeds", "robots", "urls", "entries", "filters", "ranking", "outcomes", "blacklist", "scope", "arguments")


def own_settings():
    return [name for name in vars(settings) if name.startswith("SITEMAPCRAWL_")]


@pytest.mark.parametrize("name", own_settings())
def test_every_setting_is_documented_and_used(name):
    used = [path for path in PACKAGE.rglob("*.py") if path.name != "settings.py" and name in path.read_text()]

    assert f"`{name}`" in (ROOT / "docs" / "settings.md").read_text()
    assert used


def test_every_documented_setting_exists():
    documented = set(re.findall(r"^\| `(SITEMAPCRAWL_\w+)`", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE))

    assert documented - {"SITEMAPCRAWL_USER_AGENT"} == set(own_settings())


@pytest.mark.parametrize(("name", "text"), arguments.HELP.items())
def test_every_argument_is_documented_with_its_help_text(name, text):
    assert f"| `{name}` | {text} |" in (ROOT / "docs" / "arguments.md").read_text()


@pytest.mark.parametrize(
    "path",
    [
        settings.SCHEDULER,
        *settings.SPIDER_MIDDLEWARES,
        *settings.DOWNLOADER_MIDDLEWARES,
        *settings.ITEM_PIPELINES,
        *settings.EXTENSIONS,
        *settings.FEED_EXPORTERS.values(),
        *settings.SITEMAPCRAWL_FILTERS,
    ],
)
def test_every_dotted_path_loads(path):
    assert load_object(path)


@pytest.mark.parametrize(
    "module", [*(f"{name}.py" for name in PURE), *(f"sitemaps/{p.name}" for p in PACKAGE.glob("sitemaps/*.py"))]
)
def test_the_pure_steps_import_no_framework_and_no_store(module):
    tree = ast.parse((PACKAGE / module).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    forbidden = (
        "scrapy",
        "twisted",
        "redis",
        "asyncio",
        "sitemapcrawl.frontier",
        "sitemapcrawl.store",
        "time",
        "random",
    )
    assert [] == [name for name in imported if name.startswith(forbidden)]


def test_every_script_says_its_keys_and_arguments_and_stays_small():
    for path in PACKAGE.glob("frontier/scripts/*.lua"):
        text = path.read_text()
        if path.name != "common.lua":
            assert "KEYS: " in text, path.name
            assert "ARGV" in text, path.name
        assert len(text.splitlines()) <= 130, path.name


def test_every_key_that_a_script_uses_is_documented():
    documented = (PACKAGE / "frontier" / "keys.py").read_text()
    for path in PACKAGE.glob("frontier/scripts/*.lua"):
        for name in re.findall(r"key\('(\w+)'", path.read_text()):
            assert re.search(rf"^    {name}\b", documented, re.MULTILINE), name


def test_all_keys_of_a_host_lie_in_one_slot():
    keys = Keys("crawl", 64)

    tags = {
        re.search(r"{(.*?)}", keys.of("www.example.com", name))[1]
        for name in ("turn", "host:www.example.com", "rows:a{b}")
    }

    assert 1 == len(tags)
