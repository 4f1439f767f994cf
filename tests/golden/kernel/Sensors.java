import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Measurable;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.metrics.stats.Avg;
import org.apache.kafka.common.metrics.stats.Max;
import org.apache.kafka.common.metrics.stats.Meter;
import org.apache.kafka.common.metrics.stats.WindowedCount;
import org.apache.kafka.common.utils.Time;

/**
 * What Kafka's client metrics tell of values recorded at drawn times, as JSON: runs of rows [ms, value or null, count
 * a second, sum a second, mean, greatest]. Each number is asked of a sensor of its own: asking changes Kafka's.
 */
public class Sensors {
    private static final long START = 1700000000000L;
    private static final int[] STEPS = {
        0, 1, 40, 700, 5000, 14999, 15001, 29999, 30000, 30001, 59999, 60000, 60001, 200000
    };

    public static void main(String[] args) {
        Random random = new Random(1);
        StringBuilder out = new StringBuilder("[");
        for (int run = 0; run < 6; run++) {
            List<long[]> values = new ArrayList<>();
            int steps = run % 3 == 0 ? STEPS.length : run % 3 == 1 ? 6 : 9;
            long now = START;
            out.append(run == 0 ? "\n[" : "],\n[");
            for (int row = 0; row < 40; row++) {
                now += STEPS[random.nextInt(steps)];
                int value = random.nextBoolean() ? random.nextInt(1000) : -1;
                if (value >= 0) {
                    values.add(new long[] {now, value});
                }
                out.append(row == 0 ? "\n " : ",\n ");
                out.append("[" + (now - START) + ", " + (value < 0 ? "null" : value));
                for (String name : List.of("count", "sum", "mean", "greatest")) {
                    double told = told(values, name, now);
                    out.append(", ").append(Double.isNaN(told) ? "null" : Double.toString(told));
                }
                out.append("]");
            }
        }
        System.out.println(out.append("]\n]"));
    }

    private static double told(List<long[]> values, String name, long now) {
        MetricConfig config = new MetricConfig();
        try (Metrics metrics = new Metrics(config, Time.SYSTEM)) {
            Sensor sensor = metrics.sensor("sensor");
            sensor.add(new Meter(new WindowedCount(), named("count"), named("count-total")));
            sensor.add(new Meter(named("sum"), named("sum-total")));
            sensor.add(named("mean"), new Avg());
            sensor.add(named("greatest"), new Max());
            values.forEach(value -> sensor.record(value[1], value[0]));
            return ((Measurable) metrics.metric(named(name)).measurable()).measure(config, now);
        }
    }

    private static MetricName named(String name) {
        return new MetricName(name, "group", "", Map.of());
    }
}
