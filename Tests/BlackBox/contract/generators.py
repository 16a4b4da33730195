"""Runs client generators on the contract."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import contract_document

# The targets of openapi-generator, with the path of a schema's type in the generated client.
TARGETS = {
    "swift6": "Sources/OpenAPIClient/Models/{}.swift",
    "kotlin": "src/main/kotlin/org/openapitools/client/models/{}.kt",
    "typescript-fetch": "models/{}.ts",
    "go": "model_{}.go",
}
PYTHON_CLIENT = "hesper_client"


def environment():
    """The environment with the folder of this Python first in PATH, so that tools installed in a venv are found."""
    bin_folder = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": bin_folder + os.pathsep + os.environ["PATH"]}


def run(*command, timeout=120, **others):
    """Runs a tool. Fails with its output if its exit status is not 0."""
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
    """The generated file that contains the type of a schema."""
    if target == "go":
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return folder / TARGETS[target].format(name)


def openapi_generator(target, output):
    """Generates a client with openapi-generator in a new folder. Returns the folder."""
    folder = fresh(output / target)
    printed = run(
        "openapi-generator-cli", "generate", "-g", target, "-i", contract_document.PATH, "-o", folder,
        "--global-property", "apiTests=false,modelTests=false",
    )  # fmt: skip
    (output / f"{target}.log").write_text(printed, encoding="utf-8")
    return folder


def openapi_python_client(output):
    """Generates the Python client as the package `hesper_client`. Returns its folder and the generator's output."""
    folder = fresh(output / "python")
    folder.mkdir()
    settings = folder / "settings.yaml"
    # The generator supports few media types. YAML is treated as text, ZIP and upload parts as bytes.
    overrides = {
        "application/yaml": "text/plain",
        "application/zip": "application/octet-stream",
        "application/partial-upload": "application/octet-stream",
    }
    lines = "".join(f"  {media}: {override}\n" for media, override in overrides.items())
    settings.write_text(f"content_type_overrides:\n{lines}", encoding="utf-8")
    printed = run(
        "openapi-python-client", "generate", "--path", contract_document.PATH, "--meta", "none",
        "--output-path", folder / PYTHON_CLIENT, "--config", settings, "--fail-on-warning",
    )  # fmt: skip
    return folder, printed
