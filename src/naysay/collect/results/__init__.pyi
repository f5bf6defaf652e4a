from naysay.collect.results.fragments import aggregates as aggregates
from naysay.collect.results.fragments import findings as findings
from naysay.collect.results.fragments import page as page
from naysay.show.rows import style as style
