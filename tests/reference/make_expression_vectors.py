"""Write expression_vectors.json: conditions, the answers that they are about, and what they are worth.

A client in any language replays them: evaluate "expression" with "answers", "sent" and "today", compare with "value".
What JSON cannot write stands as {"number": "NaN"}, "Infinity", "-Infinity" or "-0". `text` is the condition as XLSForm
writes it. Run after a change of meaning only:  python tests/reference/make_expression_vectors.py
"""

import json
import math
from pathlib import Path

from naysay.collect.questionnaire import evaluate, parse_expression

HERE = Path(__file__).parent
TODAY = "2026-11-20"
ANSWERS = {
    ".": 17,
    "age": 42,
    "zero": 0,
    "half": 0.5,
    "debt": -1.5,
    "area": "city",
    "empty": "",
    "count": "12",
    "plus": "+1",
    "exponent": "1e3",
    "padded": " 1",
    "arabic": "١٢",
    "word": "é😀e\u0301",
    "news": ["paper", "net"],
    "one": ["net"],
    "coded": ["1", "-99"],
    "nothing": [],
    "day": "2026-11-19",
    "later": "2027-01-01",
    "yes": True,
    "no": False,
    "grid": {"row": "agree"},
    "null": None,
}
SENT = {"smoking": "yes", "income": ["low", "middle"], "unsent": None}

CONDITIONS = """
.
${null} = ''
${unknown} = ''
${null} = 0
${null} != 0
${empty} = ''
${empty} = 0
${age} = 42
${age} = '42'
${age} = '42.0'
${age} = '42.'
${age} = '042'
${age} != 42
${age} != 'x'
${age} = 'x'
${count} = 12
${count} = '12.0'
${plus} = 1
${exponent} = 1000
${padded} = 1
${arabic} = 12
${half} = 0.5
${half} = .5
${debt} = -1.5
${area} = 'city'
${area} != 'city'
${area} = 'City'
${area} = "city"
'a' = 'a'
${news} = 'paper'
${news} != 'paper'
${news} = ${news}
${one} = 'net'
${nothing} = ''
${yes} = true()
${no} = false()
${yes} = 'true'
${yes} = 1
${no} = 0
${no} = ''
${grid} = ''
${grid} = 'agree'
1 = 1 = 1
0 div 0 = 0 div 0
0 div 0 != 0 div 0
${age} < 43
${age} <= 42
${age} > 42
${age} >= 42
${age} > '9'
${count} > 9
${count} > '9'
'b' > 'a'
${area} < 1
${null} < 1
${null} >= 0
${empty} <= 0
${news} > 0
${yes} > 0
0 div 0 < 1
${day} < today()
${day} <= today()
${later} > today()
today() = date('2026-11-20')
${day} = '2026-11-19'
${day} > 5
'2026-1-1' < '2026-02-01'
'2026-11-19x' < '2026-11-20'
'2026-13-01' > '2026-12-31'
1 + 2
${age} + ${half}
'1' + '2'
${null} + 1
${area} + 1
${yes} + 1
1 - 2 - 3
-${age}
--${age}
-(1 + 1)
2 * 3 + 1
2 + 3 * 1
${age} * ${debt}
1 div 4
1 div 0
-1 div 0
0 div 0
0 div -1
7 mod 3
-7 mod 3
7 mod -3
-7 mod -3
5.5 mod 2
7 mod 0
1 div 0 mod 3
7 mod (1 div 0)
-6 mod 3
0.1 + 0.2
${age} > 18 and ${area} = 'city'
${age} > 18 and ${area} = 'town'
${age} > 50 or ${area} = 'city'
${age} > 50 or ${area} = 'town'
true() or true() and false()
(true() or true()) and false()
1 and 'x' and ${news}
'0' and true()
0 or '' or ${nothing} or ${null}
(0 div 0) or false()
not(${age} > 18)
not(${null})
not('')
not('0')
not(0)
not(${nothing})
not(${one})
not(0 div 0)
not(${grid})
selected(${news}, 'net')
selected(${news}, 'radio')
selected(${news}, '')
selected(${nothing}, 'net')
selected(${null}, 'net')
selected(${null}, '')
selected(${empty}, '')
selected(${area}, 'city')
selected(${area}, 'town')
selected(${age}, '42')
selected(${age}, 42)
selected(${news}, 1)
selected(${coded}, 1)
selected(${coded}, '1')
selected(${coded}, -99)
selected(${coded}, 1.0)
selected(${coded}, 1.5)
selected(${coded}, 9007199254740992)
selected(${count}, 12)
count-selected(${news})
count-selected(${nothing})
count-selected(${null})
count-selected(${area})
count-selected(${empty})
count-selected(${age})
count-selected(${no})
count-selected(${news}) >= 2
string-length(${area})
string-length(${word})
string-length('')
string-length(${null})
string-length(${news})
string-length(${age})
string-length('😀')
. > 16
. <= 16
. + 1
today()
date('2026-11-20')
sent(${smoking})
sent(${smoking}) = 'yes'
sent(${smoking}) = 'no'
sent(${income})
selected(sent(${income}), 'low')
selected(sent(${income}), 'high')
sent(${income}) = 'low'
sent(${unsent}) = ''
sent(${unknown}) = 'yes'
""".strip().splitlines()


def written(value):
    """A value as JSON can hold it."""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return {"number": "NaN"}
    if math.isinf(value):
        return {"number": "Infinity" if value > 0 else "-Infinity"}
    return {"number": "-0"} if value == 0 and math.copysign(1, value) < 0 else value


def vector(text):
    expression = parse_expression(text)
    value = evaluate(expression, ANSWERS, sent=SENT, today=TODAY)
    return {"text": text, "expression": expression.model_dump(mode="json"), "value": written(value)}


def main():
    about = (__doc__ or "").strip()
    context = {"today": TODAY, "answers": ANSWERS, "sent": SENT}
    return {"about": about, **context, "vectors": [vector(text) for text in CONDITIONS]}


if __name__ == "__main__":
    text = json.dumps(main(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    (HERE / "expression_vectors.json").write_text(text, encoding="utf-8")
