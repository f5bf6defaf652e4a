"""The commands on files of people: ``naysay risk`` and ``naysay panel``."""
