"""XLSForm in and out: workbooks that spreadsheet programs and other survey tools open."""
