"""Write survey.json, which the app reads: python examples/crashes/make_survey.py."""

import json
from pathlib import Path

from naysay import designs

FEATURES = (
    "Backup",
    "Camera",
    "Export",
    "Login",
    "Map",
    "Payment",
    "Print",
    "Search",
    "Sharing",
    "Sync",
    "Video",
    "Widgets",
)
EPSILON = 1

if __name__ == "__main__":
    design = designs.frequency(FEATURES, epsilon=EPSILON)
    told = {"question": "crashed", "wave": "2026-11", "address": "http://127.0.0.1:8000/reports", "epsilon": EPSILON}
    told |= {"hash": design.hash, "design": json.loads(design.to_json())["design"]}
    Path(__file__).with_name("survey.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
