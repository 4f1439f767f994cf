"""Optimizer rule with which a query reads only its columns and records.

Spark does not pass the columns of a query to a Python source, and Spark 4.1 to 4.3 keep the plan that a source made for
one query's filters for every later query over the same DataFrame, which then lacks rows. So the format takes no filters
from Spark by itself. Instead the driver's optimizer gets a rule of ours, `KafkaLogScans.java`: each scan of `kafka-log`
gets a source of its own, with the columns and the filters of its query.

The rule is compiled by the compiler that Spark uses for its own generated code. If that fails, and in Spark Connect,
whose optimizer is the server's, queries read whole logs, with the same results; the options `columns`, `topics`,
`startingOffset` and the like do the same by hand.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULE = "KafkaLogScans"


def install_in_active_session() -> bool:
    """Add the rule to the session of this process, if it has one; return whether it is installed."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        return False
    spark = SparkSession.getActiveSession()
    return spark is not None and install(spark)


def install(spark: SparkSession) -> bool:
    """Add the rule to a session's optimizer, once; return whether it is installed."""
    try:
        methods = spark._jsparkSession.experimental()  # type: ignore[attr-defined]
        rules = methods.extraOptimizations()
        if any(rules.apply(index).getClass().getName() == RULE for index in range(rules.size())):
            return True
        getattr(methods, "extraOptimizations_$eq")(rules.appended(_compile(spark.sparkContext)))
    except Exception:
        return False  # Another Spark: slower, not wrong.
    return True


def _compile(context: Any) -> Any:
    jvm, gateway = context._jvm, context._gateway
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(files("kmirror.spark").joinpath(f"{RULE}.java").read_text("utf-8"))
    rule_class = compiler.getClassLoader().loadClass(RULE)
    no_classes = gateway.new_array(jvm.java.lang.Class, 0)
    return rule_class.getDeclaredConstructor(no_classes).newInstance(gateway.new_array(jvm.java.lang.Object, 0))
