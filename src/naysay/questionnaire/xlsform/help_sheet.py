"""The purpose of each column of the survey sheet, as a workbook explains it beside the questions."""

from __future__ import annotations

__all__ = ["HELP", "HELP_SHEET"]

HELP_SHEET = "help"

_TABLE = """
column | what it is for | example
type | What is asked. begin_group and end_group put questions under one heading. | select_one yes_no
name | Its name in the data: a letter, then letters, digits, _ and -. | income
label::English (en) | What respondents read, a column for each language; the tag in parentheses. | Do you smoke?
hint::English (en) | A smaller text below it. | In years
required | yes where an answer is needed. | yes
relevant | When it is asked. A private question counts as it is sent: sent(${smoking}). | ${age} >= 18
constraint | The condition that a direct answer must meet; . is the answer. | . <= today()
constraint_message::English (en) | The message if the answer does not meet it. | This day is still to come.
appearance | table-list on a group: a grid. likert: numbers as a rating. multiline: a longer text. | table-list
parameters | Ends of a range, which is shown as a rating. | start=1 end=5 step=1
bind::naysay_design | Makes a question private: how its answer is randomized on the device. | negative
bind::naysay_levels | Levels that respondents choose from, and whether they may toss a coin instead. | 1..3, coin
bind::naysay_begins_at | The level at which the page begins; by default the most private one. | 2
bind::naysay_sink | Choices that are never ruled out, because that would say too much. | zero_to_two
bind::naysay_sink_label::English (en) | What stands in their place among the responses. | Nothing is ruled out
bind::naysay_mode | Who carries out the design: respondents (hand) or their device; the usual one first. | hand, device
bind::naysay_innocuous::English (en) | The innocuous question beside it. | Was your mother born in March?
bind::naysay_first_label::English (en) | Words of the first of two responses, if they are not choices. | The same
bind::naysay_second_label::English (en) | Words of the second. | Different
bind::naysay_right | Makes a select_one a check of understanding: the choice that is right. | nobody
type naysay_check | A check in naysay's own words: a row with this type and a name. | naysay_check
bind::naysay_explanation::English (en) | What is said after it. | Nobody sees your answer: it stays on your device.
bind::naysay_bins | Where the bins of a private number end; a list of choices before it names them. | 20, 40, 60
bind::naysay_range | Ends of a direct number, which is sent as it is. | 0..24
bind::naysay_max_length | How many characters a text may have. | 500
bind::naysay_lines | How many lines are shown for a text. | 4
bind::naysay_low_label::English (en) | What stands at the lower end of a rating. | Very bad
bind::naysay_high_label::English (en) | What stands at its upper end. | Very good
"""

HELP = [line.split(" | ") for line in _TABLE.strip().splitlines()]
"""The rows of the help sheet, the header first."""
