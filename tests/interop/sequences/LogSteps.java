import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.UnexpectedAppendOffsetException;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.TimestampOffset;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Does to one partition's log what standard input says, a step a line, words parted by tabs, the first two being the
 * clock and the deed. Prints after each step what came of it, and after "ask" all that the log knows.
 */
public class LogSteps {
    private static final Clock CLOCK = new Clock(0);
    private static UnifiedLog log;
    private static final Set<LogSegment> SEEN = Collections.newSetFromMap(new IdentityHashMap<>());

    public static void main(String[] none) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                String[] words = line.split("\t", -1);
                CLOCK.now = Long.parseLong(words[0]);
                answer = step(words);
                touchNew();
            } catch (Throwable refused) {
                touchNew();
                answer = "!" + name(refused) + "\t" + refused.toString().replace('\n', ' ').replace('\t', ' ');
            }
            System.out.println(answer);
        }
        System.exit(0);
    }

    /** Errors bear the name that a client would see, but for what only a replica can meet. */
    private static String name(Throwable refused) {
        Throwable found = refused instanceof RecordValidationException both ? both.invalidException() : refused;
        Errors error = Errors.forException(found);
        return error == Errors.UNKNOWN_SERVER_ERROR ? found.getClass().getSimpleName() : error.name();
    }

    private static String step(String[] words) throws Exception {
        switch (words[1]) {
            case "open" -> open(words);
            case "lead" -> {
                return lead(words);
            }
            case "follow" -> {
                return follow(bytes(words[3]), Integer.parseInt(words[2]));
            }
            case "elect" -> log.assignEpochStartOffset(Integer.parseInt(words[2]), log.logEndOffset());
            case "mark" -> {
                return "" + log.updateHighWatermark(Long.parseLong(words[2]));
            }
            case "start" -> {
                return "" + log.maybeIncrementLogStartOffset(
                    Long.parseLong(words[2]), LogStartOffsetIncrementReason.ClientRecordDeletion);
            }
            case "cut" -> {
                Map<Long, Integer> sizes = log.logSegments().stream()
                    .collect(Collectors.toMap(LogSegment::baseOffset, LogSegment::size));
                boolean isCut = log.truncateTo(Long.parseLong(words[2]));
                touch(sizes.getOrDefault(log.activeSegment().baseOffset(), -1) != log.activeSegment().size());
                return "" + isCut;
            }
            case "roll" -> log.roll(Optional.of(Long.parseLong(words[2])));
            case "restart" -> log.truncateFullyAndStartAt(Long.parseLong(words[2]), Optional.empty());
            case "retain" -> {
                return "" + log.deleteOldSegments();
            }
            case "expire" -> log.removeExpiredProducers(CLOCK.now);
            case "config" -> log.updateConfig(new LogConfig(properties(words[2])));
            case "flush" -> log.flush(false);
            case "keep" -> { }
            case "clean" -> {
                Optional<Long> lastClean = words[2].isEmpty() ? Optional.empty() : Optional.of(Long.valueOf(words[2]));
                return clean(lastClean, Integer.parseInt(words[3]));
            }
            case "close" -> {
                log.flush(true);
                log.close();
            }
            case "crash" -> log.closeHandlers();
            case "read" -> {
                return read(words);
            }
            case "ask" -> {
                return ask(words);
            }
            default -> throw new IllegalArgumentException(words[1]);
        }
        return "done";
    }

    /** Files are as old as the clock says, not as the system says. */
    private static void touch(boolean isChanged) {
        if (isChanged) {
            log.activeSegment().log().file().setLastModified(CLOCK.now);
        }
    }

    /** A step that came to nothing may have begun a segment; one that a cut makes active again is as old as it was. */
    private static void touchNew() {
        if (log != null) {
            touch(!SEEN.contains(log.activeSegment()));
            SEEN.addAll(log.logSegments());
        }
    }

    private static Properties properties(String pairs) {
        Properties topic = new Properties();
        Arrays.stream(pairs.split(";")).map(one -> one.split("=", 2)).forEach(one -> topic.put(one[0], one[1]));
        return topic;
    }

    private static byte[] bytes(String text) {
        return Base64.getDecoder().decode(text);
    }

    /** Folder, topic configs, log start, recovery point, high watermark, "clean" or "unclean", producer expiration. */
    private static void open(String[] words) throws Exception {
        log = UnifiedLog.create(
            new File(words[2]), new LogConfig(properties(words[3])), Long.parseLong(words[4]), Long.parseLong(words[5]),
            new AtOnce(), new BrokerTopicStats(), CLOCK, 900_000,
            new ProducerStateManagerConfig(Integer.parseInt(words[8]), false), 600_000, new LogDirFailureChannel(1),
            words[7].equals("clean"), Optional.empty());
        for (LogSegment segment : log.logSegments()) {
            segment.log().file().setLastModified(CLOCK.now);
        }
        log.updateHighWatermark(Long.parseLong(words[6]));
    }

    private static String lead(String[] words) throws Exception {
        long end = log.logEndOffset();
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(bytes(words[5])));
        LogAppendInfo info = log.appendAsLeader(records, Integer.parseInt(words[2]), AppendOrigin.valueOf(words[3]),
            RequestLocal.noCaching(), VerificationGuard.SENTINEL, Short.parseShort(words[4]));
        touch(log.logEndOffset() > end);
        return info.firstOffset() + "\t" + info.lastOffset() + "\t" + info.logAppendTime();
    }

    /** Begins anew where a replica does: the first batch to come straddles the start of a log that holds nothing. */
    private static String follow(byte[] data, int epoch) throws Exception {
        LogAppendInfo info;
        try {
            info = log.appendAsFollower(MemoryRecords.readableRecords(ByteBuffer.wrap(data)), epoch);
        } catch (UnexpectedAppendOffsetException early) {
            if (log.logStartOffset() != log.logEndOffset() || early.lastOffset < log.logEndOffset()) {
                throw early;
            }
            log.truncateFullyAndStartAt(early.firstOffset, Optional.of(log.logStartOffset()));
            info = log.appendAsFollower(MemoryRecords.readableRecords(ByteBuffer.wrap(data)), epoch);
        }
        touch(info.validBytes() > 0);
        return info.firstOrLastOffsetOfFirstBatch() + "\t" + info.lastOffset() + "\t" + info.maxTimestamp() + "\t" + info.validBytes();
    }

    private static String clean(Optional<Long> lastClean, int keys) throws Exception {
        Class<?> manager = Class.forName("org.apache.kafka.storage.internals.log.LogCleanerManager");
        Method cleanable = manager.getDeclaredMethod("cleanableOffsets", UnifiedLog.class, Optional.class, long.class);
        cleanable.setAccessible(true);
        Object found = cleanable.invoke(null, log, lastClean, CLOCK.now);
        long from = number(found, "firstDirtyOffset");
        long to = number(found, "firstUncleanableDirtyOffset");
        LogToClean what = new LogToClean(log, from, to, false);
        if (what.cleanableBytes() == 0) {
            return "-1";
        }
        Throttler throttler = new Throttler(Double.MAX_VALUE, Long.MAX_VALUE, "cleaner-io", "entries", CLOCK);
        SkimpyOffsetMap offsets = new SkimpyOffsetMap(2 * keys * 24);
        Cleaner cleaner = new Cleaner(0, offsets, 1 << 16, 1 << 24, 0.5, throttler, CLOCK, partition -> { });
        return "" + cleaner.clean(what).getKey();
    }

    private static long number(Object record, String name) throws Exception {
        Method field = record.getClass().getDeclaredMethod(name);
        field.setAccessible(true);
        return (long) field.invoke(record);
    }

    /** Offset, most bytes, isolation, whether the first batch comes whatever its size. */
    private static String read(String[] words) throws Exception {
        FetchDataInfo found = log.read(Long.parseLong(words[2]), Integer.parseInt(words[3]),
            FetchIsolation.valueOf(words[4]), Boolean.parseBoolean(words[5]));
        ByteBuffer bytes = ByteBuffer.allocate(found.records.sizeInBytes());
        if (found.records instanceof FileRecords file) {
            file.readInto(bytes, 0);
        } else {
            bytes = ((MemoryRecords) found.records).buffer().duplicate();
        }
        byte[] data = new byte[bytes.remaining()];
        bytes.get(data);
        String aborted = found.abortedTransactions.map(all -> all.stream()
            .map(one -> one.producerId() + ":" + one.firstOffset()).collect(Collectors.joining(","))).orElse("-");
        return Base64.getEncoder().encodeToString(data) + "\t" + aborted;
    }

    /** Asks for the ends of epochs up to the first number, and for the timestamps behind it. */
    private static String ask(String[] words) throws Exception {
        List<String> parts = new ArrayList<>();
        parts.add("" + Math.max(log.lastStableOffset(), log.logStartOffset()));
        parts.add(log.logStartOffset() + " " + log.highWatermark() + " " + log.logEndOffset() + " " + log.recoveryPoint());
        List<String> segments = new ArrayList<>();
        for (LogSegment segment : log.logSegments()) {
            TimestampOffset greatest = segment.readMaxTimestampAndOffsetSoFar();
            segments.add(segment.baseOffset() + ":" + segment.size() + ":" + segment.offsetIndex().entries() + ":"
                + segment.timeIndex().entries() + ":" + greatest.timestamp() + ":" + greatest.offset());
        }
        parts.add(String.join(" ", segments));
        Map<Long, ProducerStateEntry> producers = new TreeMap<>(log.producerStateManager().activeProducers());
        parts.add(producers.values().stream().map(LogSteps::producer).collect(Collectors.joining(" ")));
        parts.add(log.producerStateManager().mapEndOffset() + "");
        parts.add(log.leaderEpochCache().epochEntries().stream()
            .map(entry -> entry.epoch() + ":" + entry.startOffset()).collect(Collectors.joining(" ")));
        List<String> ends = new ArrayList<>();
        for (int epoch = -1; epoch <= Integer.parseInt(words[2]); epoch++) {
            Map.Entry<Integer, Long> end = log.leaderEpochCache().endOffsetFor(epoch, log.logEndOffset());
            ends.add(end.getKey() + ":" + end.getValue());
        }
        parts.add(String.join(" ", ends));
        List<String> offsets = new ArrayList<>();
        for (int at = 3; at < words.length; at++) {
            offsets.add(log.fetchOffsetByTimestamp(Long.parseLong(words[at]), Optional.empty()).timestampAndOffsetOpt()
                .map(one -> one.timestamp + ":" + one.offset + ":" + one.leaderEpoch.orElse(-1)).orElse("-"));
        }
        parts.add(String.join(" ", offsets));
        return String.join("\t", parts);
    }

    private static String producer(ProducerStateEntry entry) {
        String batches = entry.batchMetadata().stream()
            .map(one -> one.lastSeq() + "/" + one.lastOffset() + "/" + one.offsetDelta() + "/" + one.timestamp())
            .collect(Collectors.joining(","));
        return entry.producerId() + ":" + entry.producerEpoch() + ":" + entry.coordinatorEpoch() + ":"
            + entry.lastTimestamp() + ":" + entry.currentTxnFirstOffset().orElse(-1L) + ":" + batches;
    }
}
