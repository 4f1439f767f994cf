import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.datasources.DataSourceStrategy$;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.python.PythonFilterPushdownResult;
import org.apache.spark.sql.execution.datasources.v2.python.PythonScan;
import org.apache.spark.sql.execution.datasources.v2.python.PythonTable;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * Gives each scan of the format kafka-log the columns and filters of its own query; see planner.py, which compiles
 * this in the driver. Raw types throughout: the compiler that Spark brings knows no generics.
 */
public final class KafkaLogScans extends Rule {
  private static final String FORMAT = "kafka-log";
  /** What a row is counted by: a field of the batch's header. */
  private static final String[] CHEAP = {"partition", "topic", "leaderEpoch", "baseOffset"};
  /** The optimizer applies a rule until nothing changes. */
  private static final Set PLANNED = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap()));

  public TreeNode apply(TreeNode plan) {
    return visit((LogicalPlan) plan);
  }

  private LogicalPlan visit(LogicalPlan plan) {
    LogicalPlan below = plan instanceof Project ? (LogicalPlan) ((Project) plan).child() : plan;
    Filter filter = below instanceof Filter ? (Filter) below : null;
    LogicalPlan leaf = filter == null ? below : (LogicalPlan) filter.child();
    if (leaf != plan && isOurs(leaf)) {
      DataSourceV2ScanRelation scan = (DataSourceV2ScanRelation) leaf;
      LogicalPlan better;
      try {
        better = replan(scan, plan instanceof Project ? plan.references() : null, filter);
      } catch (Exception error) {
        return plan; // Spark plans the whole scan, and reports its errors.
      }
      if (better == null) {
        return plan;
      }
      LogicalPlan child = filter == null ? better : with(filter, better);
      return plan == filter ? child : with(plan, child);
    }
    return (LogicalPlan) plan.mapChildren(new AbstractFunction1() {
      public Object apply(Object child) {
        return visit((LogicalPlan) child);
      }
    });
  }

  private static boolean isOurs(LogicalPlan plan) {
    if (!(plan instanceof DataSourceV2ScanRelation)) {
      return false;
    }
    DataSourceV2ScanRelation scan = (DataSourceV2ScanRelation) plan;
    return scan.scan() instanceof PythonScan && FORMAT.equals(scan.relation().table().name())
        && !PLANNED.contains(scan.scan());
  }

  private static LogicalPlan with(LogicalPlan plan, LogicalPlan child) {
    List children = new ArrayList();
    children.add(child);
    return (LogicalPlan) plan.withNewChildren(CollectionConverters.asScala(children).toSeq());
  }

  /** Returns the same scan with what the query needs, or null if it needs everything. */
  private static LogicalPlan replan(DataSourceV2ScanRelation old, AttributeSet used, Filter filter) throws Exception {
    List output = new ArrayList();
    List fields = new ArrayList();
    List all = new ArrayList(CollectionConverters.asJava(old.output()));
    AttributeReference kept = used == null ? null : cheapest(all);
    for (int i = 0; i < all.size(); i++) {
      AttributeReference column = (AttributeReference) all.get(i);
      if (used == null || used.contains((NamedExpression) column)
          || (filter != null && filter.references().contains((NamedExpression) column))) {
        output.add(column);
      }
    }
    if (output.isEmpty()) {
      output.add(kept);
    }
    for (int i = 0; i < output.size(); i++) {
      AttributeReference column = (AttributeReference) output.get(i);
      fields.add(DataTypes.createStructField(column.name(), column.dataType(), column.nullable()));
    }
    StructType schema = new StructType((StructField[]) fields.toArray(new StructField[0]));
    List filters = new ArrayList();
    if (filter != null) {
      translate(filter.condition(), filters);
    }
    if (filters.isEmpty() && output.size() == all.size()) {
      return null;
    }
    Map options = new HashMap(old.relation().options().asCaseSensitiveMap());
    if (!filters.isEmpty()) {
      options.put("pushFilters", "true");
    }
    CaseInsensitiveStringMap given = new CaseInsensitiveStringMap(options);
    // A source of its own: what Spark 4.3 has planned for one it keeps for every query over the same DataFrame.
    PythonDataSourceV2 source = new PythonDataSourceV2();
    source.setShortName(FORMAT);
    if (!filters.isEmpty()) {
      push(source, given, schema, filters);
    }
    PythonTable table = (PythonTable) source.getTable(schema, new Transform[0], options);
    Scan scan = table.newScanBuilder(given).build();
    PLANNED.add(scan);
    return copy(old, scan, CollectionConverters.asScala(output).toSeq());
  }

  private static AttributeReference cheapest(List columns) {
    for (int i = 0; i < CHEAP.length; i++) {
      for (int j = 0; j < columns.size(); j++) {
        if (CHEAP[i].equals(((AttributeReference) columns.get(j)).name())) {
          return (AttributeReference) columns.get(j);
        }
      }
    }
    return (AttributeReference) columns.get(0);
  }

  private static void translate(Expression condition, List filters) {
    if (condition instanceof And) {
      translate((Expression) ((And) condition).left(), filters);
      translate((Expression) ((And) condition).right(), filters);
      return;
    }
    Option translated = DataSourceStrategy$.MODULE$.translateFilter(condition, true);
    if (translated.isDefined()) {
      filters.add(translated.get());
    }
  }

  private static void push(PythonDataSourceV2 source, CaseInsensitiveStringMap options, StructType schema, List filters) {
    org.apache.spark.sql.sources.Filter[] array =
        (org.apache.spark.sql.sources.Filter[]) filters.toArray(new org.apache.spark.sql.sources.Filter[0]);
    Option result = source.source().pushdownFiltersInPython(
        source.getOrCreateDataSourceInPython(FORMAT, options, Option.apply(schema)), schema, array);
    // All filters stay where they are, too: the source only leaves out what cannot match.
    source.setReadInfo(((PythonFilterPushdownResult) result.get()).readInfo());
  }

  /** Calls copy of whatever parameters this version of Spark has: the second is the scan, the third the output. */
  private static LogicalPlan copy(DataSourceV2ScanRelation old, Scan scan, Seq output) throws Exception {
    Method[] methods = DataSourceV2ScanRelation.class.getMethods();
    for (int i = 0; i < methods.length; i++) {
      if (methods[i].getName().equals("copy")) {
        Object[] values = new Object[methods[i].getParameterTypes().length];
        for (int at = 0; at < values.length; at++) {
          values[at] = DataSourceV2ScanRelation.class.getMethod("copy$default$" + (at + 1), new Class[0]).invoke(old, new Object[0]);
        }
        values[1] = scan;
        values[2] = output;
        return (LogicalPlan) methods[i].invoke(old, values);
      }
    }
    throw new NoSuchMethodException("copy");
  }
}
