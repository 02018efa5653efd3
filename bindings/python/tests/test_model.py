"""Loading, saving, changing and checking of weight files."""

import copy
import pickle

import numpy as np
import pytest

import wdgnn
from wdgnn import Model


@pytest.mark.parametrize("name", Model.names())
def test_header_and_numbers_reproduce_the_file(name):
    model = Model.named(name)
    again = Model(model.header, model.numbers)
    assert bytes(again) == bytes(model) and again == model
    assert again.checksum == model.checksum


def test_saved_files_are_loaded_unchanged(tmp_path):
    model = Model.named("flocking-3d")
    path = tmp_path / "space.wdgnn"
    model.save(path)
    assert Model.load(path) == model and path.read_bytes() == bytes(model)
    assert Model.load(str(path)).task == "flocking-3d"


def test_a_missing_folder_is_named_and_not_created(tmp_path):
    missing = tmp_path / "none"
    with pytest.raises(OSError, match=f"the folder {missing} does not exist"):
        Model.named("flocking-3d").save(missing / "space.wdgnn")
    assert not missing.exists()


def test_models_can_be_pickled_and_copied():
    model = Model.named("flocking-3d")
    assert pickle.loads(pickle.dumps(model)) == model == copy.deepcopy(model)


def test_changed_numbers_change_the_checksum():
    model = Model.named("flocking-wd-gnn")
    other = model.with_numbers(model.numbers * np.float32(0.5))
    assert other != model and other.checksum != model.checksum and other.header == model.header


def test_damaged_files_are_rejected(tmp_path):
    damaged = bytearray(bytes(Model.named("flocking-wd-gnn")))
    damaged[200] ^= 1
    with pytest.raises(wdgnn.Error, match="cannot use the model"):
        Model.from_bytes(bytes(damaged))
    path = tmp_path / "damaged.wdgnn"
    path.write_bytes(damaged)
    with pytest.raises(wdgnn.Error, match="cannot use the model .*damaged.wdgnn: the weight file is damaged"):
        wdgnn.Swarm(model=path)


def test_invalid_headers_and_numbers_are_rejected():
    model = Model.named("flocking-wd-gnn")
    with pytest.raises(wdgnn.Error):
        model.with_numbers(np.full(model.numbers.size, np.nan))
    with pytest.raises(ValueError, match="unknown activation sine"):
        Model(dict(model.header, activation="sine"), model.numbers)
    with pytest.raises(ValueError, match="the header has no scale"):
        Model({key: value for key, value in model.header.items() if key != "scale"}, model.numbers)
    with pytest.raises(ValueError, match="no models/nothing.wdgnn"):
        Model.named("nothing")
