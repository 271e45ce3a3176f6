# SPDX-License-Identifier: Apache-2.0
"""Letters as lines, for the numbers and words of figures that are saved as pixels.

A letter is a list of lines, each a string of points: two digits, to the right and down. Capitals
stand between 0 and 6, small letters between 2 and 6, and tails reach to 8.
"""

from __future__ import annotations

import functools
import unicodedata

#: What stands for a letter that is not in the table.
_BOX = "0030363000 0006 0636"
_LETTERS = """
A 062046 1434
B 06003041423303 3344453606
C 4130100105163645
D 06003041453606
E 40000646 0333
F 400006 0333
G 41301001051636454323
H 0006 4046 0343
I 0020 1016 0626
J 3035261605
K 0006 4004 1346
L 000646
M 0600234046
N 06004640
O 100105163645413010
P 06003041423303
Q 100105163645413010 2446
R 06003041423303 2346
S 413010010213334445361605
T 0040 2026
U 000516364540
V 002640
W 0016233640
X 0046 4006
Y 002340 2326
Z 00400646
0 102031352616050110
1 112026 1636
2 01103041420646
3 01103041423313 334445361605
4 36300444
5 400003334445361605
6 4130100105163645443303
7 004016
8 13020110304142331304051636454433
9 0516364541301001021343
a 12223336 341405162635
b 0006 0312223335261605
c 3322120305162635
d 3036 3322120305162635
e 043433221203051636
f 30201116 0222
g 32372808 3322120305162635
h 0006 0312223336
i 0206 0000
j 121708 1010
k 0006 3205 1436
l 000516
m 0206 03122326 23324346
n 0206 0312223336
o 120305162635332212
p 0208 0312223335261605
q 3238 3322120305162635
r 0206 031222
s 3212031424352606
t 10152636 0232
u 0205162635 3236
v 022642
w 0216233642
x 0236 3206
y 0226 421808
z 02320636
. 0606
, 0607
: 0303 0606
; 0303 0607
! 0004 0606
? 011020313214 1616
- 0333
+ 0343 2125
= 0232 0434
_ 0747
/ 0640
\\ 0046
| 0007
( 10020416
) 00121406
[ 10000616
] 00101606
{ 20111203141526
} 00111223141506
< 310335
> 013305
* 2125 0244 0442
# 1016 3036 0242 0444
% 0640 0010110100 3545463635
& 4612112031320405162644
@ 46160501103041443424232233
$ 413010010213334445361605 2026
" 0001 2021
' 0001
` 0011
~ 04133443
^ 022042
° 0010110100
µ 0208 05162635 3236
² 0010110212
³ 00101202 0111
· 0404
× 0235 3205
± 0242 2024 0646
Ω 06160401103041443646
… 0606 2626 4646
"""
#: Letters drawn as others are.
_SAME = {"−": "-", "–": "-", "—": "-", "μ": "µ", "Ω": "Ω", "’": "'", "“": '"', "”": '"'}
#: Between two letters, in the units of the points.
_GAP = 1.8
_SPACE = 2.4

Line = list[tuple[float, float]]


@functools.cache
def _table() -> dict[str, list[Line]]:
    rows = (row.partition(" ")[::2] for row in _LETTERS.strip().splitlines())
    return {letter: _lines(points) for letter, points in rows}


def _lines(points: str) -> list[Line]:
    return [
        [(float(word[at]), float(word[at + 1])) for at in range(0, len(word), 2)]
        for word in points.split()
    ]


def _letter(letter: str) -> list[Line]:
    table = _table()
    if letter in table:
        return table[letter]
    plain = _SAME.get(letter) or unicodedata.normalize("NFD", letter)[0]
    return table.get(plain) or _lines(_BOX)


def lines_of(words: str) -> tuple[list[Line], float]:
    """The lines of some words from their left end at the height of capitals, and their width."""
    made, at = [], 0.0
    for letter in words:
        if letter.isspace():
            at += _SPACE
            continue
        lines = _letter(letter)
        made += [[(at + x, y) for x, y in line] for line in lines]
        at += max(x for line in lines for x, _ in line) + _GAP
    return made, max(at - _GAP, 0.0)
