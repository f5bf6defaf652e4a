from naysay.telemetry import audit as audit
from naysay.telemetry import batches as batches
from naysay.telemetry import client as client
from naysay.telemetry import ledger as ledger
from naysay.telemetry import prices as prices
