"""TensorBoard's event files, written without TensorBoard: each event a small protobuf, framed as a TFRecord."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

VARINT, DOUBLE, BYTES, FLOAT = 0, 1, 2, 5  # how protobuf lays out a field
SESSION_START = 1


class EventFile:
    """Scalars by step, in a new file of `folder`.

    A resumed run says after which step it goes on: TensorBoard then forgets what older files hold of later steps.
    """

    def __init__(self, folder: Path, step: int = 0):
        folder.mkdir(parents=True, exist_ok=True)
        now = time.time()
        self.path = folder / f"events.out.tfevents.{now:.6f}"  # a folder's files are read in the order of their names
        self._file = self.path.open("xb")
        self._write(now, 0, _field(3, BYTES, b"brain.Event:2"))
        self._write(now, step + 1, _field(7, BYTES, _field(1, VARINT, SESSION_START)))

    def add(self, step: int, scalars: Mapping[str, float], wall_time: float | None = None) -> None:
        """Appends one event: the scalars by their tags, such as `loss/value`. It is on disk when this returns."""
        values = b"".join(
            _field(1, BYTES, _field(1, BYTES, tag.encode()) + _field(2, FLOAT, float(value)))
            for tag, value in scalars.items()
        )
        self._write(time.time() if wall_time is None else wall_time, step, _field(5, BYTES, values))

    def close(self) -> None:
        self._file.close()

    def _write(self, wall_time: float, step: int, what: bytes) -> None:
        event = _field(1, DOUBLE, wall_time) + _field(2, VARINT, step) + what
        length = struct.pack("<Q", len(event))
        self._file.write(length + _masked_crc(length) + event + _masked_crc(event))
        self._file.flush()


def _field(number: int, layout: int, value: float | bytes) -> bytes:
    """A protobuf field."""
    key = _varint(number << 3 | layout)
    if isinstance(value, bytes):
        return key + _varint(len(value)) + value
    if layout == VARINT:
        return key + _varint(int(value))
    return key + struct.pack("<d" if layout == DOUBLE else "<f", value)


def _varint(number: int) -> bytes:
    """A whole number from zero up: seven bits a byte, the lowest first."""
    pieces = []
    while number > 127:
        pieces.append(number & 127 | 128)
        number >>= 7
    return bytes([*pieces, number])


def _crc_table() -> Iterator[int]:
    """CRC-32C of each byte alone."""
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


CRC_TABLE = list(_crc_table())


def _masked_crc(data: bytes) -> bytes:
    """The checksum of TFRecords: CRC-32C, turned by 15 bits and shifted by a constant."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
