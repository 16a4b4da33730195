"""An app that uses HesperClient resolves and builds only what the client needs, from an empty folder."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from client import ROOT

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "app", platforms: [.macOS(.v15)],
    dependencies: [.package(path: "%s", traits: [])],
    targets: [
        .executableTarget(name: "app", dependencies: [.product(name: "HesperClient", package: "%s")])
    ])
"""

APP = """import Foundation
import HesperClient

struct Recipe: SyncedObject {
    static let objectType = "recipe"
    var id = ObjectID<Recipe>()
    @Merged var title = ""
}

let store = try await LocalStore(at: URL(filePath: "recipes.sqlite"), Recipe.self)
let soup = try await store.insert(Recipe(title: "Soup"))
try await store.write { try $0.update(soup.id) { $0.title = "Leek soup" } }
print(try await store.read { try $0.get(soup.id)?.title ?? "" })
"""


def swift(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    run = subprocess.run(
        ["swift", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=1_800
    )
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    return run.stdout


def packages(tree: dict) -> set[str]:
    """The names of all packages that a package depends on, directly or not."""
    return {tree["identity"]}.union(*map(packages, tree["dependencies"]))


@pytest.mark.thorough
@pytest.mark.timeout(3_600)
def test_an_app_resolves_only_what_the_client_needs(tmp_path: Path):
    folder = tmp_path / "app"  # The identity of a package is the name of its folder.
    source = folder / "Sources/app/main.swift"
    source.parent.mkdir(parents=True)
    source.write_text(APP)
    (folder / "Package.swift").write_text(MANIFEST % (ROOT, ROOT.name))
    tree = json.loads(swift(folder, "package", "show-dependencies", "--format", "json"))
    assert packages(tree) - {"app", ROOT.name.lower()} == {"grdb.swift", "swift-crypto", "swift-asn1"}
    # With optimization, as an app is shipped: the compiler has failed only there.
    swift(folder, "build", "-c", "release")
    assert swift(folder, "run", "-c", "release", "--skip-build", "app").strip() == "Leek soup"
