"""AES-128 in CCM mode (NIST SP 800-38C, RFC 3610), in pure Python.

Slow and not constant in time: for tests and for looking at captures, never for a robot.
"""

import hmac


def _build_s_box():
    """The S-box from its definition: inverse in GF(2^8), then an affine map (FIPS 197, 5.1.1)."""
    exponential, logarithm = [0] * 255, [0] * 256
    x = 1
    for power in range(255):
        exponential[power], logarithm[x] = x, power
        x ^= _double(x)  # times 3, a generator
    box = bytearray(256)
    for value in range(256):
        inverse = exponential[(255 - logarithm[value]) % 255] if value else 0
        turned = [(inverse << turn | inverse >> (8 - turn)) & 0xFF for turn in range(5)]
        box[value] = turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63
    return bytes(box)


def _double(x):
    return (x << 1) ^ 0x11B if x & 0x80 else x << 1


_S_BOX = _build_s_box()
# ShiftRows: where each byte of the state, column by column, comes from.
_SHIFTED = [(column + row) % 4 * 4 + row for column in range(4) for row in range(4)]


def _round_keys(key):
    if len(key) != 16:
        raise ValueError("an AES-128 key has 16 bytes")
    words = [key[index : index + 4] for index in range(0, 16, 4)]
    constant = 1
    for index in range(4, 44):
        word = words[-1]
        if index % 4 == 0:
            word = bytes(_S_BOX[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _double(constant)
        words.append(_xor(words[-4], word))
    return [b"".join(words[index : index + 4]) for index in range(0, 44, 4)]


def _xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


class Aes128:
    """Encrypts blocks of 16 bytes. CCM never needs the other direction."""

    def __init__(self, key):
        self._keys = _round_keys(key)

    def encrypt(self, block):
        state = _xor(block, self._keys[0])
        for key in self._keys[1:-1]:
            state = [_S_BOX[state[source]] for source in _SHIFTED]
            mixed = []
            for at in range(0, 16, 4):
                column = state[at : at + 4]
                total = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += [column[i] ^ total ^ _double(column[i] ^ column[(i + 1) % 4]) for i in range(4)]
            state = _xor(mixed, key)
        return _xor((_S_BOX[state[source]] for source in _SHIFTED), self._keys[-1])


def _blocks(data):
    return [data[at : at + 16].ljust(16, b"\0") for at in range(0, len(data), 16)]


class Ccm:
    """Authenticated encryption with a tag of `tag_bytes`."""

    def __init__(self, key, tag_bytes):
        self._aes, self._tag_bytes = Aes128(key), tag_bytes

    def _stream(self, nonce, length):
        """The tag's mask, and the key stream for the content."""
        size = 15 - len(nonce)
        counters = range(1 + (length + 15) // 16)
        blocks = [
            self._aes.encrypt(bytes([size - 1]) + nonce + count.to_bytes(size, "big")) for count in counters
        ]
        return blocks[0], b"".join(blocks[1:])

    def _tag(self, nonce, associated, content, mask):
        size = 15 - len(nonce)
        flags = (64 if associated else 0) | (self._tag_bytes - 2) // 2 << 3 | size - 1
        chain = self._aes.encrypt(bytes([flags]) + nonce + len(content).to_bytes(size, "big"))
        prefix = len(associated).to_bytes(2, "big") if associated else b""
        for block in _blocks(prefix + associated) + _blocks(content):
            chain = self._aes.encrypt(_xor(chain, block))
        return _xor(chain, mask)[: self._tag_bytes]

    def seal(self, nonce, associated, content):
        """The encrypted content and its tag."""
        mask, stream = self._stream(nonce, len(content))
        return _xor(content, stream) + self._tag(nonce, associated, content, mask)

    def open(self, nonce, associated, sealed):
        """The content, or `None` when it was not sealed with this key, nonce and associated data."""
        if len(sealed) < self._tag_bytes:
            return None
        cut = len(sealed) - self._tag_bytes
        mask, stream = self._stream(nonce, cut)
        content = _xor(sealed[:cut], stream)
        tag = self._tag(nonce, associated, content, mask)
        return content if hmac.compare_digest(tag, sealed[cut:]) else None
