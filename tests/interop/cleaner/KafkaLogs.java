import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Opens, cleans and closes the partition folders that standard input names, a line each, as a broker does:
 * folder, clock, recovery point, log start, "clean" or "unclean" shutdown, topic configs, the first dirty offset of
 * a run of the cleaner ("-" for none, "" for the log start), and what is done to the log before that, parted by tabs.
 * Prints "log start, log end, end of the run" or an exception.
 */
public class KafkaLogs {
    public static void main(String[] none) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                answer = work(line.split("\t", -1));
            } catch (Throwable refused) {
                answer = refused.toString().replace('\n', ' ');
            }
            System.out.println("A\t" + answer);
        }
        System.exit(0);
    }

    private static String work(String[] job) throws Exception {
        Time time = new Clock(Long.parseLong(job[1]));
        Properties topic = new Properties();
        Arrays.stream(job[5].split(";")).map(one -> one.split("=", 2)).forEach(one -> topic.put(one[0], one[1]));
        int expiry = Integer.parseInt((String) topic.remove("producer.id.expiration.ms"));
        UnifiedLog log = UnifiedLog.create(
            new File(job[0]), new LogConfig(topic), Long.parseLong(job[3]), Long.parseLong(job[2]), new AtOnce(),
            new BrokerTopicStats(), time, 900_000, new ProducerStateManagerConfig(expiry, false), 600_000,
            new LogDirFailureChannel(1), job[4].equals("clean"), Optional.empty());
        log.updateHighWatermark(log.logEndOffset());
        for (String deed : job[7].split(";")) {
            String[] words = deed.split(" ");
            switch (words[0]) {
                case "cut" -> log.truncateTo(Long.parseLong(words[1]));
                case "restart" -> log.truncateFullyAndStartAt(Long.parseLong(words[1]), Optional.empty());
                case "start" -> log.maybeIncrementLogStartOffset(
                    Long.parseLong(words[1]), LogStartOffsetIncrementReason.ClientRecordDeletion);
                case "retain" -> log.deleteOldSegments();
                default -> { }
            }
        }
        long cleaned = -1;
        if (!job[6].equals("-")) {
            cleaned = clean(log, job[6].isEmpty() ? Optional.empty() : Optional.of(Long.valueOf(job[6])), time);
        }
        String answer = log.logStartOffset() + "\t" + log.logEndOffset() + "\t" + cleaned;
        log.flush(true);
        log.close();
        return answer;
    }

    private static long clean(UnifiedLog log, Optional<Long> lastClean, Time time) throws Exception {
        Class<?> manager = Class.forName("org.apache.kafka.storage.internals.log.LogCleanerManager");
        Method cleanable = manager.getDeclaredMethod("cleanableOffsets", UnifiedLog.class, Optional.class, long.class);
        cleanable.setAccessible(true);
        Object found = cleanable.invoke(null, log, lastClean, time.milliseconds());
        LogToClean what = new LogToClean(log, number(found, "firstDirtyOffset"), number(found, "firstUncleanableDirtyOffset"), false);
        Throttler throttler = new Throttler(Double.MAX_VALUE, Long.MAX_VALUE, "cleaner-io", "entries", time);
        SkimpyOffsetMap offsets = new SkimpyOffsetMap(1 << 20);
        Cleaner cleaner = new Cleaner(0, offsets, 1 << 16, 1 << 24, 0.9, throttler, time, partition -> { });
        return cleaner.clean(what).getKey();
    }

    private static long number(Object record, String name) throws Exception {
        Method field = record.getClass().getDeclaredMethod(name);
        field.setAccessible(true);
        return (long) field.invoke(record);
    }
}
