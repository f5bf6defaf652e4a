"""The commands on files of people and on tables of them."""
