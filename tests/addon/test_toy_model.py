"""A model that somebody else registers is in Blender's menu, and is simulated."""

import pytest
from tendril.addon.properties.models import net_models, rod_models
from tendril.core import register_model
from tendril.core.describe.model import unregister_model
from tendril.tests.addon.building import make_rod, play
from toy_model import TOY


@pytest.fixture
def toy():
    register_model(TOY)
    yield
    unregister_model(TOY.name)


def test_the_menu_has_models_that_are_registered_later(toy):
    rods = [item for item in rod_models(None, None) if item[0]]
    assert {item[0] for item in rods} == {"der", "compact", "clothoid", "der2008", "toy"}
    assert [item[0] for item in net_models(None, None)] == ["net", "compact", "", "corde"]
    assert [item[4] for item in rods if item[0] != "toy"] == [0, 2, 3, 1]  # what files keep
    assert next(item for item in rods if item[0] == "toy")[1:3] == (TOY.label, TOY.description)
    numbers = [item[4] for item in rod_models(None, None)]
    assert len(set(numbers)) == len(numbers)


def test_a_rod_of_it_can_be_chosen_and_moves(toy):
    obj = make_rod(model="toy")
    assert obj.tendril.model == "toy"
    toy_rows = play(obj, 5)
    obj.tendril.model = "der"
    rows = play(obj, 5)
    fallen = [(played[5] - played[1])[:, 2].mean() for played in (toy_rows, rows)]
    assert fallen[0] < 1.5 * fallen[1] < 0.0


def test_what_was_not_chosen_is_the_default():
    assert make_rod().tendril.model == "der"
    assert make_rod().tendril.net_model == "net"
