"""Texts and files of an app's own type, in apps on the Swift library: those of notes, by other names."""

from collections.abc import Callable

import pytest
from attachments import download, some_bytes
from client import Client, Server
from convergence import settle
from database import Backup, make_older, query
from device import Device
from library_device import LibraryDevice, Make, rescue_note
from waiting import wait_until

pytestmark = pytest.mark.long


@pytest.fixture
def apps_on(library: Make) -> Callable[..., list[LibraryDevice]]:
    """`apps_on(server)` returns two apps of a new account. `is_old`: the second is of the version without texts and files."""

    def make(server: Server, is_old: bool = False) -> list[LibraryDevice]:
        email = server.client().email
        return [library(server, email), library(server, email, is_old=is_old)]

    return make


def shared_recipe(a: LibraryDevice, b: LibraryDevice | Device, **values: str) -> str:
    recipe = a.make_recipe(**values)
    settle(a, b)
    return recipe


def on_server(client: Client, recipe: str) -> dict:
    response = client.get(f"/v1/objects/{recipe}")
    assert response.status_code == 200, response.text
    return response.json()


ROWS = [
    ("Boil.\nServe.\n", "Boil gently.\nServe.\n", "Boil.\nServe hot.\n"),
    ("The red soup.", "The blue soup.", "The green soup."),
    ("", "Peel.\n", "Peel.\n"),
    ("one\ntwo\nthree\n", "two\nthree\none\n", "one\ntwo!\nthree\n"),
]


@pytest.mark.parametrize(("base", "first", "second"), ROWS)
def test_texts_are_merged_like_those_of_notes(server, apps_on, base, first, second):
    """The reference client edits a note in the same way, at the same times."""
    a, b = apps_on(server)
    client = server.client()
    c, d = Device(client), Device(client.another_device("D"))
    recipe, note = shared_recipe(a, b, method=base, tips="Salt."), c.make_note(base)
    settle(c, d)
    for one, other in ((a, c), (b, d)):
        text = first if one is a else second
        one.edit(recipe, "texts.method", text)
        other.write(note, text)
    for group in ((a, b), (c, d)):
        group[1].sync()
        settle(*group)
    assert a.recipes == b.recipes
    assert a.recipes[recipe]["method"] == c.text(note)
    assert a.recipes[recipe]["tips"] == "Salt."
    assert on_server(a.client, recipe)["texts"] == {"method": c.text(note), "tips": "Salt."}


def test_former_texts_are_those_of_the_history(server, apps_on):
    a, b = apps_on(server)
    recipe = shared_recipe(a, b, method="Boil.")
    b.edit(recipe, "texts.method", "Boil. Serve.")
    settle(b, a)
    a.go_online()
    assert a.app.call("formerMethods", recipe) == ["Boil. Serve.", "Boil."]
    a.go_offline()


def test_two_apps_set_one_file_at_once(fresh_server, apps_on):
    """Both apps end with one picture. The other is deleted after the grace period."""
    a, b = apps_on(fresh_server)
    recipe = shared_recipe(a, b, title="Soup")
    pictures = {device.attach_to_recipe(recipe, "photo", some_bytes(1_000, seed)): seed for seed, device in enumerate((a, b))}
    settle(a, b)
    kept = a.recipes[recipe]["photo"]
    [lost] = pictures.keys() - {kept}
    client = a.client
    assert on_server(client, recipe)["files"] == {"photo": kept}
    for device in (a, b):
        assert device.recipes[recipe]["photo"] == kept
        device.go_online()
        assert device.download(kept) == some_bytes(1_000, pictures[kept])
        device.go_offline()
    fresh_server.stop()
    make_older(fresh_server, 31)
    query(fresh_server, f"UPDATE blobs SET unheld_since = unheld_since - {31 * 86_400_000}")
    fresh_server.start()
    wait_until(lambda: client.get(f"/v1/attachments/{lost}").status_code == 410)
    assert download(client, kept) == some_bytes(1_000, pictures[kept])
    settle(a, b)
    for device in (a, b):
        assert [path.name for path in (device.folder / "copy.sqlite-files").iterdir()] == [kept]


def test_a_file_moves_to_another_recipe(server, apps_on):
    a, b = apps_on(server)
    soup, stew = a.make_recipe("Soup"), a.make_recipe("Stew")
    photo = a.attach_to_recipe(soup, "photo", some_bytes(100))
    settle(a, b)
    # The server rejects it while the soup has it. The library sets it again when the soup no longer has it.
    b.edit(stew, "files.scan", photo)
    settle(b, a)
    assert b.recipes[stew].get("scan") is None
    assert [(change["attribute"], change["slug"]) for change in b.rejected] == [("files.scan", "attachment-in-use")]
    a.edit(soup, "files.photo", None)
    settle(a, b)
    assert (a.recipes[soup].get("photo"), a.recipes[stew]["scan"], b.rejected) == (None, photo, [])


def test_words_that_a_deletion_had_not_seen(server, apps_on):
    a, b = apps_on(server)
    recipe = shared_recipe(a, b, title="Soup", method="Boil.", tips="Salt.")
    b.edit(recipe, "texts.method", "Boil. Serve.")
    b.sync()
    a.delete(recipe)
    settle(a, b)
    for device in (a, b):
        assert list(device.recipes) == [rescue_note(recipe)]
        assert device.recipes[rescue_note(recipe)] | {"photo": None, "scan": None} == {
            "title": "", "method": "Boil. Serve.", "tips": "", "photo": None, "scan": None,
        }  # fmt: skip
    [notice] = a.app.call("notices")
    assert (notice["kind"], notice["objectType"], notice["continuation"]) == ("unseen", "recipe", rescue_note(recipe))


def test_words_that_were_seen_are_deleted(server, apps_on):
    a, b = apps_on(server)
    recipe = shared_recipe(a, b, title="Soup", method="Boil.")
    b.edit(recipe, "texts.method", "Boil. Serve.")
    settle(b, a)
    a.edit(recipe, "texts.tips", "Salt.")
    a.delete(recipe)
    settle(a, b)
    assert (a.recipes, b.recipes, a.app.call("notices")) == ({}, {}, [])


def test_unsent_words_of_a_deleted_recipe(server, apps_on):
    """They are in a new recipe, or in the one that the server made of what the deletion had not seen."""
    a, b = apps_on(server)
    alone, rescued = shared_recipe(a, b, title="Soup", method="Boil."), shared_recipe(a, b, method="Fry.\nServe.\n")
    a.delete(alone)
    a.sync()
    b.edit(alone, "texts.method", "Boil. Serve.")
    b.sync()
    third = a.client.another_device("C")
    third.patch(f"/v1/objects/{rescued}", {"texts": {"method": "Fry.\nServe hot.\n"}}).raise_for_status()
    a.delete(rescued)
    a.sync()
    b.edit(rescued, "texts.method", "Fry well.\nServe.\n")
    b.edit(rescued, "texts.tips", "Salt.")
    settle(b, a)
    moved = b.moved[rescued]
    assert (moved, set(b.rescued)) == (rescue_note(rescued), {alone})
    for device in (a, b):
        methods = {unique_id: recipe["method"] for unique_id, recipe in device.recipes.items()}
        assert methods == {b.rescued[alone]: "Boil. Serve.", moved: "Fry well.\nServe hot.\n"}
        assert device.recipes[moved]["tips"] == "Salt."


def test_a_restored_server_is_given_back_texts_and_files(fresh_server, tmp_path, apps_on):
    a, b = apps_on(fresh_server)
    old = shared_recipe(a, b, method="Boil.\nServe.\n", tips="Salt.")
    fresh_server.stop()
    backup = Backup.make(fresh_server, tmp_path / "backup")
    fresh_server.start()
    new = a.make_recipe("Stew", "Fry.")
    photo = a.attach_to_recipe(old, "photo", some_bytes(100))
    a.edit(old, "texts.method", "Boil gently.\nServe.\n")
    settle(a, b)
    expected = a.recipes
    fresh_server.stop()
    backup.copy_back(fresh_server)
    fresh_server.start()
    # It is sent with the value of its base, which the restored server lacks.
    b.edit(old, "texts.method", "Boil gently.\nServe hot.\n")
    expected[old]["method"] = "Boil gently.\nServe hot.\n"
    settle(a, b)
    assert a.recipes == b.recipes == expected
    assert on_server(a.client, old)["files"] == {"photo": photo}
    assert on_server(a.client, new)["texts"] == {"method": "Fry."}
    assert download(a.client, photo) == some_bytes(100)
    assert fresh_server.command("check").returncode == 0


@pytest.mark.parametrize("other", ["reference client", "earlier version of the app"])
def test_a_device_that_does_not_know_texts_and_files(server, apps_on, other):
    if other == "reference client":
        [a, _] = apps_on(server)
        b = Device(a.client.another_device("B"))
    else:
        a, b = apps_on(server, is_old=True)
    recipe = shared_recipe(a, b, title="Soup", method="Boil.\n")
    photo = a.attach_to_recipe(recipe, "photo", some_bytes(100))
    settle(a, b)
    b.edit(recipe, "attributes.title", "Leek soup")
    a.edit(recipe, "texts.method", "Boil.\nServe.\n")
    settle(b, a)
    assert b.copy.objects[recipe].value("texts.method") == "Boil.\nServe.\n"
    shown = a.recipes[recipe]
    assert (shown["title"], shown["method"], shown["photo"]) == ("Leek soup", "Boil.\nServe.\n", photo)
    # Its deletion names the texts that it had received, or none. In neither case does the server rescue anything.
    b.delete(recipe)
    settle(b, a)
    assert a.recipes == {}
