# SPDX-License-Identifier: Apache-2.0
"""IP addresses as strings: which they are, as numbers, and in which network."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from headrace.errors import InvalidArgumentError, UnsupportedError

if TYPE_CHECKING:
    from headrace.series.series import Series

_BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_V4 = rf"{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}"
_PLAIN_V4 = _V4.replace("(", "(?:")
_H = "[0-9A-Fa-f]{1,4}"
#: Eight groups, or fewer around "::"; the last two may be an IPv4 address.
_V6 = "|".join(
    [
        f"(?:{_H}:){{7}}{_H}",
        f"(?:{_H}:){{1,7}}:",
        *(f"(?:{_H}:){{1,{7 - n}}}(?::{_H}){{1,{n}}}" for n in range(1, 7)),
        f":(?:(?::{_H}){{1,7}}|:)",
        f"(?:{_H}:){{6}}{_PLAIN_V4}",
        f"::(?:{_H}:){{0,5}}{_PLAIN_V4}",
        *(f"(?:{_H}:){{{n}}}:(?:{_H}:){{0,{5 - n}}}{_PLAIN_V4}" for n in range(1, 6)),
    ]
)


class AddressAccessor:
    """The part of `Series.str` that knows IP addresses."""

    __slots__ = ()
    _series: Series

    def is_ipv4(self) -> Series:
        """Whether each string is an IPv4 address: four numbers to 255 without leading zeros.

        >>> hr.Series(["10.0.0.1", "10.0.0.256", "::1"]).str.is_ipv4().to_list()
        [True, False, False]
        """
        return self._series.str.fullmatch(_PLAIN_V4)

    def is_ipv6(self) -> Series:
        """Whether each string is an IPv6 address (RFC 4291), without a zone.

        >>> hr.Series(["10.0.0.1", "fe80::1", "::ffff:1.2.3.4"]).str.is_ipv6().to_list()
        [False, True, True]
        """
        return self._series.str.fullmatch(_V6)

    def ip_to_int(self) -> Series:
        """IPv4 addresses as int64 numbers, which sort and compare; null for other strings.

        >>> hr.Series(["0.0.1.0", "10.0.0.1", "x"]).str.ip_to_int().to_list()
        [256, 167772161, None]
        """
        bytes_ = self._series.str.extract(rf"\A{_V4}\z")
        value: Series = bytes_[0].astype("int64")
        for place in (1, 2, 3):
            value = value * 256 + bytes_[place].astype("int64")
        return self._series._like(value._node)

    def in_subnet(self, network: str) -> Series:
        """Whether each string is an IPv4 address of a network.

        Raises
        ------
        hr.InvalidArgumentError
            (a ValueError) For what is no network.
        hr.UnsupportedError
            (a NotImplementedError) For a network of IPv6.

        >>> hr.Series(["10.9.8.7", "11.0.0.1", None]).str.in_subnet("10.0.0.0/8").to_list()
        [True, False, False]
        """
        try:
            wanted = ipaddress.ip_network(network, strict=False)
        except ValueError:
            raise InvalidArgumentError(
                f"in_subnet: not a network: network={network!r}; expected such as '10.0.0.0/8'"
            ) from None
        if wanted.version != 4:
            raise UnsupportedError(
                f"in_subnet: networks of IPv6 are not supported: network={network!r}; compare the "
                "beginnings of addresses: str.startswith"
            )
        value, low = self.ip_to_int(), int(wanted.network_address)
        return (value >= low) & (value <= low + wanted.num_addresses - 1)
