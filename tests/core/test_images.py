"""Every picture of docs/ is listed with the command and the sources that it is made from, and stale ones are found."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tendril.sample_scenes import image_sources, images
from tendril.sample_scenes.experiments import TABLE
from tendril.sample_scenes.samples import TABLE as SAMPLES


def test_every_picture_is_listed_and_every_entry_has_its_picture() -> None:
    assert images.pictures() == set(images.read())


def test_sources_exist() -> None:
    for image in images.read().values():
        assert image.sources, image.path
        assert len(image_sources.digest(image.sources)) == 16


def test_every_experiment_and_sample_has_its_picture() -> None:
    listed = images.read()
    for name, experiment in TABLE.items():
        for stem in (name, *(f"{name}_{model}" for model in experiment.models[1:])):
            entry = listed[f"experiments/{stem}.png"]
            assert f"sample_scenes/experiments/{name}.py" in entry.sources
            assert shlex.split(entry.command)[:5] == ["python", "-m", "tendril", "experiment", name]
    for name in SAMPLES:
        assert f"sample:{name}" in listed[f"gallery/{name}.webp"].sources


def test_the_list_is_written_as_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, listed = images.LIST.read_text(encoding="utf-8"), images.read()
    monkeypatch.setattr(images, "LIST", tmp_path / "images.toml")
    images.write(listed)
    assert images.LIST.read_text(encoding="utf-8") == text


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source `module.py` in an otherwise empty repository."""
    monkeypatch.setattr(image_sources, "ROOT", tmp_path)
    return tmp_path / "module.py"


def digest_of(module: Path, text: str, source: str = "module.py") -> str:
    module.write_text(text, encoding="utf-8")
    image_sources._tree.cache_clear()
    return image_sources.digest([source])


def test_prose_and_formatting_do_not_change_the_digest(module: Path) -> None:
    before = digest_of(module, '"""One."""\n\ndef f(x):\n    """Two."""\n    return x + 1  # three\n')
    after = digest_of(module, '"""Another."""\n\ndef f(x):\n    """Other\n    words."""\n    return (x\n        + 1)\n')
    assert before == after
    assert digest_of(module, "def f(x):\n    return x + 2\n") != before


def test_a_source_may_be_one_definition(module: Path) -> None:
    text = "A = {}\n\ndef f():\n    return {}\n"
    before = digest_of(module, text.format(1, 1), "module.py::f")
    assert digest_of(module, text.format(2, 1), "module.py::f") == before
    assert digest_of(module, text.format(1, 2), "module.py::f") != before
    assert digest_of(module, text.format(1, 1), "module.py::A") != digest_of(module, text.format(2, 1), "module.py::A")
    with pytest.raises(ValueError, match="defines no g"):
        image_sources.digest(["module.py::g"])
    with pytest.raises(ValueError, match="no file"):
        image_sources.digest(["missing.py"])


def test_labels_of_a_panels_properties_count_and_tooltips_do_not(module: Path) -> None:
    panels, properties = module.parent / "addon" / "panels", module.parent / "addon" / "properties"
    panels.mkdir(parents=True)
    properties.mkdir()
    (panels / "a.py").write_text('class P:\n    bl_label = "Rod"\n    def draw(self):\n        self.prop("size")\n')

    def digest_with(text: str) -> str:
        (properties / "a.py").write_text(f"class Q:\n    size: number({text})\n    other: number('Other')\n")
        for cached in (image_sources._tree, image_sources._panels, image_sources._properties):
            cached.cache_clear()
        return image_sources.digest(["panel:Rod"])

    before = digest_with("'Size', 'A tooltip', 1.0")
    assert digest_with("'Size', 'Another tooltip', 1.0") == before
    assert digest_with("'Length', 'A tooltip', 1.0") != before
    assert digest_with("'Size', 'A tooltip', 2.0") != before
    for cached in (image_sources._tree, image_sources._panels, image_sources._properties):
        cached.cache_clear()


def test_stale_pictures_are_listed_made_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(images, "LIST", tmp_path / "images.toml")
    monkeypatch.setattr(images, "ROOT", tmp_path)
    sources = ["sample_scenes/hanging_rope.py"]
    fresh = images.Image("a/fresh.png", "false", sources, image_sources.digest(sources))
    command = "python -c \"open('made', 'w').close()\""
    stale = [images.Image(f"a/{name}.png", command, sources, "") for name in ("one", "two")]
    failing = images.Image("failing.png", "false", sources, "")
    window = images.Image("window.png", "packaging/window panels WINDOW", sources, "")
    images.write({image.path: image for image in (fresh, *stale, failing, window)})
    assert images.main(["--check"]) == 1
    out = capsys.readouterr().out
    assert "docs/a/one.png" in out
    assert "fresh" not in out
    assert images.main(["--stale"]) == 1
    assert (tmp_path / "made").exists()
    assert {path for path, image in images.read().items() if image.stale} == {"failing.png", "window.png"}
    assert images.main(["--accept", "failing", "docs/window.png"]) == 0
    assert images.main(["--check"]) == 0
    with pytest.raises(SystemExit):
        images.main(["unknown"])
