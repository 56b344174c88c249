#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_files.py [FOLDER] - writes the tensor files of this folder with NumPy; the stored ones were written by 2.4.6.
The zip and gzip files depend on the versions of Python and zlib, so the bytes may differ."""
import gzip
import pathlib
import struct
import sys
import zipfile

import numpy as np

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)


def arrays():
    return {
        "f32": np.array([[1.5, -0.0, np.inf], [np.nan, 1e-45, 3.4e38]], dtype="<f4"),
        "big": np.arange(6, dtype=">i4").reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6, dtype="<f8").reshape(2, 3)),
        "none": np.zeros((0, 4), dtype="<i8"),
        "scalar": np.array(7, dtype="u1"),
        "truth": np.array([True, False]),
        "half": np.array([0.5, 65504], dtype="<f2"),
    }


def idx(code, array):
    head = bytes([0, 0, code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


class Pipe:
    """A file that cannot go back, so that sizes stand behind the data."""

    def __init__(self, file):
        self.file = file

    def read(self, *_):
        raise OSError

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()


def zip64_early(path):
    """The directory of a file beyond 2 GiB, in a small one: true numbers in the old end too."""
    limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 400
    np.savez(path, **arrays())
    zipfile.ZIP64_LIMIT = limit


def main():
    zip64_early(FOLDER / "zip64.npz")
    with open(FOLDER / "piped.npz", "wb") as file:
        np.savez_compressed(Pipe(file), **arrays())
    np.savez(FOLDER / "stored.npz", **arrays())
    np.savez_compressed(FOLDER / "deflated.npz", **arrays())
    np.save(FOLDER / "fortran.npy", arrays()["fortran"])
    images = np.arange(2 * 3 * 4, dtype="u1").reshape(2, 3, 4)
    (FOLDER / "images.idx").write_bytes(idx(8, images))
    (FOLDER / "images.idx.gz").write_bytes(gzip.compress(idx(8, images), mtime=0))
    (FOLDER / "numbers.idx").write_bytes(idx(13, np.array([1.5, -2.25, 1e30], dtype="f4")))


main()
