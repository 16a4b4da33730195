"""How the generators are run: their command lines, and where each puts a schema's type."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import contract_document

# The targets of openapi-generator, and the file in which each puts the type of a schema.
TARGETS = {
    "swift6": "Sources/OpenAPIClient/Models/{}.swift",
    "kotlin": "src/main/kotlin/org/openapitools/client/models/{}.kt",
    "typescript-fetch": "models/{}.ts",
    "go": "model_{}.go",
}
PYTHON_CLIENT = "hesper_client"


def environment():
    """That of this Python, so that a generator finds the tools installed beside it, whether it is activated or not."""
    beside = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": beside + os.pathsep + os.environ["PATH"]}


def run(*command, timeout=120, **others):
    """Runs a tool to its end, and fails with all that it printed if it fails."""
    done = subprocess.run(
        command, timeout=timeout, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        **{"env": environment(), **others},
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def model(target, folder, name):
    """The file of a schema's type."""
    if target == "go":
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return folder / TARGETS[target].format(name)


def openapi_generator(target, output):
    """Generates a client with openapi-generator, into a new folder of that target's name, and says where."""
    folder = fresh(output / target)
    printed = run(
        "openapi-generator-cli", "generate", "-g", target, "-i", contract_document.PATH, "-o", folder,
        "--global-property", "apiTests=false,modelTests=false",
    )  # fmt: skip
    (output / f"{target}.log").write_text(printed, encoding="utf-8")
    return folder


def openapi_python_client(output):
    """Generates the Python client, as the package `hesper_client`, and answers its folder and what was printed."""
    folder = fresh(output / "python")
    folder.mkdir()
    settings = folder / "settings.yaml"
    # This generator knows few media types: read YAML as the text that it is, zip and a part of an upload as bytes.
    overrides = {
        "application/yaml": "text/plain",
        "application/zip": "application/octet-stream",
        "application/partial-upload": "application/octet-stream",
    }
    lines = "".join(f"  {ours}: {theirs}\n" for ours, theirs in overrides.items())
    settings.write_text(f"content_type_overrides:\n{lines}", encoding="utf-8")
    printed = run(
        "openapi-python-client", "generate", "--path", contract_document.PATH, "--meta", "none",
        "--output-path", folder / PYTHON_CLIENT, "--config", settings, "--fail-on-warning",
    )  # fmt: skip
    return folder, printed
