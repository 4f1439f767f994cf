import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.ConsoleProducer;
import org.apache.kafka.tools.ConsumerPerformance;
import org.apache.kafka.tools.GetOffsetShell;
import org.apache.kafka.tools.ProducerPerformance;
import org.apache.kafka.tools.TopicCommand;
import org.apache.kafka.tools.VerifiableConsumer;
import org.apache.kafka.tools.VerifiableProducer;
import org.apache.kafka.tools.consumer.ConsoleConsumer;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;

/**
 * What do Kafka's own clients and tools see of a cluster? Run with BOOTSTRAP_SERVERS BROKERS [STEP...]: prints a line
 * of JSON for each step with its outcome, as tests/interop/clients/steps.py says.
 */
class Steps {
    static final String FAMILY = "java";
    static final int STEP_SECONDS = 40;
    static final long START = 1_700_000_000_000L;
    static final Duration SOON = Duration.ofMillis(100);
    static final ObjectMapper JSON = new ObjectMapper();
    static String bootstrap;
    static short factor;
    /** How often in a row a new topic is to be seen: the next question may go to a broker that lags. */
    static int looks;
    static Admin admin;

    interface Step {
        Object run() throws Exception;
    }

    /** What a tool gets for its call of exit. */
    static class Ended extends RuntimeException {}

    static String named(String name) {
        return FAMILY + "-" + name;
    }

    static String withoutIds(Object text) {
        return String.valueOf(text)
            .replaceAll("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID")
            .replaceAll("(localhost|127\\.0\\.0\\.1):\\d+", "ADDRESS")
            .replaceAll("\\(id: \\d+ rack", "(id: N rack")
            .replaceAll("producerId=\\d+", "producerId=ID")
            .replaceAll("-?\\b(1[6-9]|922)\\d{11,}\\b", "TIME");
    }

    static Map<String, Object> told(Object... pairs) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put((String) pairs[i], pairs[i + 1]);
        }
        return map;
    }

    static Object failure(Throwable error) {
        Throwable inner = error instanceof ExecutionException && error.getCause() != null ? error.getCause() : error;
        return List.of(inner.getClass().getSimpleName(), withoutIds(inner.getMessage()));
    }

    static Object attempt(Callable<?> call) {
        try {
            Object outcome = call.call();
            return outcome == null ? "ok" : outcome;
        } catch (Exception error) {
            return failure(error);
        }
    }

    static <T> T eventually(Callable<T> ask, java.util.function.Predicate<T> holds) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (true) {
            T answer = ask.call();
            if (holds.test(answer) || System.nanoTime() > end) {
                return answer;
            }
            Thread.sleep(20);
        }
    }

    static String make(String name, int partitions, Map<String, String> configs) throws Exception {
        String topic = named(name);
        admin.createTopics(List.of(new NewTopic(topic, partitions, factor).configs(configs))).all().get();
        for (int look = 0; look < looks; look++) {
            eventually(() -> {
                try {
                    var seen = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions();
                    return seen.stream().filter(one -> one.leader() != null).count();
                } catch (ExecutionException notYet) {
                    return 0L;
                }
            }, count -> count == partitions);
        }
        return topic;
    }

    static KafkaProducer<String, String> producer(Object... pairs) {
        Map<String, Object> configs = told(pairs);
        configs.put("bootstrap.servers", bootstrap);
        configs.putIfAbsent("delivery.timeout.ms", 10_000);
        configs.putIfAbsent("request.timeout.ms", 5_000);
        return new KafkaProducer<>(configs, new StringSerializer(), new StringSerializer());
    }

    static KafkaConsumer<String, String> consumer(Object... pairs) {
        Map<String, Object> configs = told(pairs);
        configs.put("bootstrap.servers", bootstrap);
        configs.put("enable.auto.commit", false);
        configs.putIfAbsent("auto.offset.reset", "earliest");
        configs.put("fetch.max.wait.ms", 50);
        configs.put("heartbeat.interval.ms", 100);
        configs.putIfAbsent("session.timeout.ms", 6_000);
        return new KafkaConsumer<>(configs, new StringDeserializer(), new StringDeserializer());
    }

    static List<Object> send(KafkaProducer<String, String> client, String topic, String... values) {
        List<Object> offsets = new ArrayList<>();
        for (String value : values) {
            offsets.add(attempt(() -> client.send(new ProducerRecord<>(topic, 0, null, value)).get().offset()));
        }
        return offsets;
    }

    static List<ConsumerRecord<String, String>> readAll(String topic, long from, String isolation) {
        try (var client = consumer("isolation.level", isolation)) {
            TopicPartition where = new TopicPartition(topic, 0);
            client.assign(List.of(where));
            client.seek(where, from);
            long end = client.endOffsets(List.of(where)).get(where);
            List<ConsumerRecord<String, String>> rows = new ArrayList<>();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (client.position(where) < end && System.nanoTime() < deadline) {
                client.poll(SOON).forEach(rows::add);
            }
            return rows;
        }
    }

    static List<Object> shown(List<ConsumerRecord<String, String>> rows) {
        List<Object> list = new ArrayList<>();
        for (var row : rows) {
            List<Object> headers = new ArrayList<>();
            row.headers().forEach(one -> headers.add(Arrays.asList(
                one.key(), one.value() == null ? null : new String(one.value(), StandardCharsets.UTF_8))));
            list.add(Arrays.asList(row.offset(), row.leaderEpoch().orElse(null), row.timestamp(),
                row.timestampType().toString(), row.key(), row.value(), headers));
        }
        return list;
    }

    static List<String> values(List<ConsumerRecord<String, String>> rows) {
        return rows.stream().map(ConsumerRecord::value).toList();
    }

    // -- the cluster and its topics ---------------------------------------------------------------

    static Object cluster() throws Exception {
        var seen = admin.describeCluster();
        var nodes = seen.nodes().get();
        return told(
            "nodes", nodes.stream().map(node -> node.id() + " " + node.host() + " " + node.rack()).sorted().toList(),
            "controller", nodes.contains(seen.controller().get()),
            "id", seen.clusterId().get().length(),
            "features", admin.describeFeatures().featureMetadata().get().finalizedFeatures().keySet()
                .contains("metadata.version"));
    }

    static Object topics() throws Exception {
        String name = named("made");
        Map<String, Object> rows = told(
            "made", create(new NewTopic(name, 2, factor)),
            "again", create(new NewTopic(name, 2, factor)),
            "defaults", create(new NewTopic(named("defaults"), Optional.empty(), Optional.empty())),
            "zero", create(new NewTopic(named("zero"), 0, (short) 1)),
            "replicas", create(new NewTopic(named("replicas"), 1, (short) 9)),
            "odd", create(new NewTopic("odd name", 1, (short) 1)),
            "config", create(new NewTopic(named("config"), 1, (short) 1).configs(Map.of("retention.ms", "x"))),
            "placed", create(new NewTopic(named("placed"), Map.of(0, List.of(1), 1, List.of(1)))),
            "gap", create(new NewTopic(named("gap"), Map.of(0, List.of(1), 2, List.of(1)))),
            "nowhere", create(new NewTopic(named("nowhere"), Map.of(0, List.of(77)))));
        rows.put("grown", List.of(
            grow(name, NewPartitions.increaseTo(3)), grow(name, NewPartitions.increaseTo(3)),
            grow(name, NewPartitions.increaseTo(1)), grow(named("no-such"), NewPartitions.increaseTo(2)),
            grow(name, NewPartitions.increaseTo(4, List.of(List.of(77))))));
        rows.put("described", eventually(() -> attempt(() -> {
            var seen = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
            return seen.partitions().stream()
                .map(one -> one.partition() + " " + one.replicas().size() + " " + one.isr().size()).toList();
        }), seen -> ((List<?>) seen).size() == 3));
        rows.put("unknown", attempt(() -> admin.describeTopics(List.of(named("no-such"))).allTopicNames().get()));
        rows.put("deleted", List.of(
            attempt(() -> admin.deleteTopics(List.of(name)).all().get()),
            attempt(() -> admin.deleteTopics(List.of(named("no-such"))).all().get())));
        return rows;
    }

    static Object create(NewTopic topic) {
        return attempt(() -> {
            var made = admin.createTopics(List.of(topic));
            made.all().get();
            return List.of(made.numPartitions(topic.name()).get(), made.replicationFactor(topic.name()).get(),
                made.config(topic.name()).get().entries().size());
        });
    }

    static Object grow(String topic, NewPartitions wanted) {
        return attempt(() -> admin.createPartitions(Map.of(topic, wanted)).all().get());
    }

    static Object configs() throws Exception {
        String topic = make("configs", 1, Map.of("retention.ms", "777777"));
        ConfigResource here = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        ConfigResource nobody = new ConfigResource(ConfigResource.Type.TOPIC, named("no-such"));
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        Map<String, Object> rows = told(
            "topic", describe(here, null),
            "broker", describe(broker, Set.of("num.partitions", "node.id", "log.retention.hours", "message.max.bytes",
                "log.segment.bytes", "log.retention.ms", "min.insync.replicas", "group.initial.rebalance.delay.ms")),
            "no such", describe(nobody, null),
            "set", alter(here, "retention.ms", "888888", AlterConfigOp.OpType.SET),
            "append", alter(here, "cleanup.policy", "compact", AlterConfigOp.OpType.APPEND),
            "append twice", alter(here, "cleanup.policy", "compact", AlterConfigOp.OpType.APPEND),
            "subtract", alter(here, "retention.ms", "1", AlterConfigOp.OpType.SUBTRACT),
            "bad", alter(here, "retention.ms", "x", AlterConfigOp.OpType.SET),
            "unknown", alter(here, "a.b", "x", AlterConfigOp.OpType.SET),
            "nobody's", alter(nobody, "retention.ms", "1", AlterConfigOp.OpType.SET));
        rows.put("after", eventually(() -> describe(here, Set.of("cleanup.policy", "retention.ms")),
            seen -> String.valueOf(seen).contains("delete,compact")));
        return rows;
    }

    static Object describe(ConfigResource resource, Set<String> keys) {
        return attempt(() -> {
            var options = new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true);
            var seen = admin.describeConfigs(List.of(resource), options).all().get().get(resource);
            Map<String, Object> rows = new TreeMap<>();
            for (ConfigEntry one : seen.entries()) {
                if (keys == null || keys.contains(one.name())) {
                    var synonyms = one.synonyms().stream()
                        .map(row -> Arrays.asList(row.name(), row.value(), row.source())).toList();
                    rows.put(one.name(), Arrays.asList(one.value(), one.source(), one.type(), one.isSensitive(),
                        one.isReadOnly(), synonyms, one.documentation() != null));
                }
            }
            return rows;
        });
    }

    static Object alter(ConfigResource resource, String key, String value, AlterConfigOp.OpType what) {
        Collection<AlterConfigOp> change = List.of(new AlterConfigOp(new ConfigEntry(key, value), what));
        return attempt(() -> admin.incrementalAlterConfigs(Map.of(resource, change)).all().get());
    }

    // -- records ----------------------------------------------------------------------------------

    static Object codecs() throws Exception {
        Map<String, Object> rows = told();
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            String topic = make("codec-" + codec, 1, Map.of());
            try (var client = producer("compression.type", codec, "linger.ms", 50)) {
                List<Future<?>> sent = new ArrayList<>();
                for (int n = 0; n < 3; n++) {
                    var row = new ProducerRecord<>(topic, 0, START + n, "key", "value ".repeat(20) + n);
                    row.headers().add("h", new byte[] {'1'}).add("h", null);
                    sent.add(client.send(row));
                }
                sent.add(client.send(new ProducerRecord<String, String>(topic, 0, Long.valueOf(START), null, (String) null)));
                sent.add(client.send(new ProducerRecord<>(topic, 0, START, "", "")));
                client.flush();
                for (Future<?> one : sent) {
                    one.get();
                }
            }
            rows.put(codec, shown(readAll(topic, 0, "read_committed")));
        }
        return rows;
    }

    static Object refused() throws Exception {
        String topic = make("acks", 1, Map.of());
        String small = make("small", 1, Map.of("max.message.bytes", "200"));
        String keyed = make("keyed", 1, Map.of("cleanup.policy", "compact"));
        String future = make("future", 1, Map.of("message.timestamp.after.max.ms", "1000"));
        try (var plain = producer("enable.idempotence", false, "acks", "1", "retries", 0); var idempotent = producer()) {
            return told(
                "plain", send(plain, topic, "a", "b"),
                "idempotent", send(idempotent, topic, "c", "d"),
                "large", send(plain, small, "x".repeat(500)),
                "no key", send(plain, keyed, "x"),
                "future", attempt(() ->
                    plain.send(new ProducerRecord<>(future, 0, 4_000_000_000_000L, "k", "v")).get().offset()),
                "bad name", send(plain, "bad name", "x"),
                "read", values(readAll(topic, 0, "read_committed")));
        }
    }

    static Object offsets() throws Exception {
        String topic = make("offsets", 1, Map.of());
        TopicPartition where = new TopicPartition(topic, 0);
        try (var client = producer()) {
            for (int n = 0; n < 6; n++) {
                client.send(new ProducerRecord<>(topic, 0, START + n % 4, null, "" + n)).get();
            }
        }
        Map<String, Object> rows = told();
        for (var spec : List.of(OffsetSpec.earliest(), OffsetSpec.latest(), OffsetSpec.maxTimestamp(),
                OffsetSpec.forTimestamp(START + 2), OffsetSpec.forTimestamp(START + 99), OffsetSpec.earliestLocal(),
                OffsetSpec.latestTiered())) {
            rows.put(rows.size() + " " + spec.getClass().getSimpleName(), attempt(() -> {
                var found = admin.listOffsets(Map.of(where, spec)).all().get().get(where);
                return Arrays.asList(found.offset(), found.timestamp(), found.leaderEpoch().orElse(null));
            }));
        }
        for (long before : new long[] {2, 99, -1}) {
            rows.put("deleted before " + before, attempt(() ->
                admin.deleteRecords(Map.of(where, RecordsToDelete.beforeOffset(before))).lowWatermarks().get(where).get()
                    .lowWatermark()));
        }
        try (var reader = consumer("auto.offset.reset", "none")) {
            reader.assign(List.of(where));
            reader.seek(where, 99);
            rows.put("out of range", attempt(() -> reader.poll(Duration.ofSeconds(5)).count()));
        }
        return rows;
    }

    // -- transactions and groups ------------------------------------------------------------------

    static Object transactions() throws Exception {
        String topic = make("transactions", 1, Map.of());
        String source = make("tx-source", 1, Map.of());
        TopicPartition where = new TopicPartition(source, 0);
        Map<String, Object> rows = told();
        try (var client = producer("transactional.id", named("tx")); var rival = producer("transactional.id", named("tx"));
                var member = consumer("group.id", named("tx-group"), "isolation.level", "read_committed")) {
            client.initTransactions();
            for (String name : List.of("a", "b", "c")) {
                client.beginTransaction();
                send(client, topic, name + "0", name + "1");
                Map<TopicPartition, OffsetAndMetadata> done = Map.of(where, new OffsetAndMetadata(name.charAt(0), name));
                client.sendOffsetsToTransaction(done, member.groupMetadata());
                if (name.equals("b")) {
                    client.abortTransaction();
                } else {
                    client.commitTransaction();
                }
                rows.put("offset after " + name, String.valueOf(member.committed(Set.of(where)).get(where)));
            }
            rows.put("committed", shownBriefly(readAll(topic, 0, "read_committed")));
            rows.put("uncommitted", shownBriefly(readAll(topic, 0, "read_uncommitted")));
            client.beginTransaction();
            send(client, topic, "open");
            rows.put("while open", shownBriefly(readAll(topic, 0, "read_committed")));
            rival.initTransactions();
            rows.put("fenced", send(client, topic, "late"));
            // Its words depend on whether the client has heard of the refusal in its own thread yet; its kind does not.
            Object ended = attempt(() -> {
                client.commitTransaction();
                return null;
            });
            rows.put("end of the fenced", ended instanceof List<?> named ? named.get(0) : ended);
            var described = admin.describeTransactions(List.of(named("tx"))).description(named("tx"));
            rows.put("described", attempt(() -> described.get().state().toString()));
        }
        return rows;
    }

    static Object shownBriefly(List<ConsumerRecord<String, String>> rows) {
        return rows.stream().map(row -> row.offset() + " " + row.value()).toList();
    }

    /** A consumer that polls on a thread of its own: a rebalance waits for all members at once. */
    static class Member {
        final KafkaConsumer<String, String> client;
        final Thread thread;
        volatile boolean ending;
        volatile Object raised;
        volatile List<Integer> assigned = List.of();

        Member(String topic, Object... pairs) {
            client = consumer(pairs);
            client.subscribe(List.of(topic));
            thread = new Thread(() -> {
                while (!ending) {
                    try {
                        client.poll(SOON);
                        assigned = client.assignment().stream().map(TopicPartition::partition).sorted().toList();
                    } catch (Exception error) {
                        raised = failure(error);
                        return;
                    }
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        KafkaConsumer<String, String> stop() throws Exception {
            ending = true;
            thread.join();
            return client;
        }

        void close() throws Exception {
            stop().close(CloseOptions.timeout(Duration.ofSeconds(5)));
        }
    }

    static Object settled(List<Member> members, List<Integer> sizes) throws Exception {
        return eventually(() -> members.stream().map(one -> one.assigned).toList(),
            seen -> seen.stream().map(List::size).toList().equals(sizes));
    }

    static Object described(String group) {
        return attempt(() -> {
            var seen = admin.describeConsumerGroups(List.of(named(group))).all().get().get(named(group));
            var members = seen.members().stream()
                .map(one -> one.clientId() + " " + one.groupInstanceId() + " " + one.host() + " "
                    + one.assignment().topicPartitions().size()).sorted().toList();
            return Arrays.asList(seen.groupState(), seen.type(), seen.partitionAssignor(), seen.isSimpleConsumerGroup(),
                members);
        });
    }

    static Object rebalance() throws Exception {
        String topic = make("shared", 4, Map.of());
        Map<String, Object> rows = told();
        for (var assignor : List.of(RangeAssignor.class, CooperativeStickyAssignor.class)) {
            String group = assignor.getSimpleName();
            Object[] asked = {"group.id", named(group), "partition.assignment.strategy", assignor.getName(), "client.id"};
            Member first = new Member(topic, and(asked, "a"));
            Object alone = settled(List.of(first), List.of(4));
            Member second = new Member(topic, and(asked, "b"));
            settled(List.of(first, second), List.of(2, 2));
            Object both = described(group);
            second.close();
            rows.put(group, Arrays.asList(alone, both, settled(List.of(first), List.of(4))));
            first.close();
        }
        return rows;
    }

    static Object[] and(Object[] pairs, Object last) {
        Object[] all = Arrays.copyOf(pairs, pairs.length + 1);
        all[pairs.length] = last;
        return all;
    }

    static Object staticMembers() throws Exception {
        String topic = make("static", 2, Map.of());
        // A session that no slow machine ends: a static member that is away keeps its partitions for so long.
        Object[] asked = {"group.id", named("static"), "partition.assignment.strategy", RangeAssignor.class.getName(),
            "session.timeout.ms", 30_000, "group.instance.id"};
        Member first = new Member(topic, and(asked, "one"));
        Member second = new Member(topic, and(asked, "two"));
        Object before = settled(List.of(first, second), List.of(1, 1));
        second.close();
        Object away = described("static");
        second = new Member(topic, and(asked, "two"));
        Object back = settled(List.of(first, second), List.of(1, 1));
        Member usurper = new Member(topic, and(asked, "one"));
        Object fenced = eventually(() -> String.valueOf(one(first)), seen -> !seen.equals("null"));
        usurper.close();
        second.close();
        first.close();
        return told("before", before, "away", away, "back", back, "fenced", fenced);
    }

    static Object one(Member member) {
        return member.raised;
    }

    static Object commitAndResume() throws Exception {
        String topic = make("resumed", 1, Map.of());
        String group = named("resume");
        TopicPartition where = new TopicPartition(topic, 0);
        try (var client = producer()) {
            send(client, topic, "0", "1", "2", "3", "4");
        }
        Member first = new Member(topic, "group.id", group);
        settled(List.of(first), List.of(1));
        first.stop().commitSync(Map.of(where, new OffsetAndMetadata(3, Optional.of(0), "so far")));
        first.close();
        Map<String, Object> rows = told();
        try (var second = consumer("group.id", group)) {
            second.subscribe(List.of(topic));
            List<String> rest = new ArrayList<>();
            eventually(() -> {
                second.poll(SOON).forEach(row -> rest.add(row.value()));
                return rest.size();
            }, size -> size >= 2);
            rows.put("rest", rest);
            rows.put("committed", String.valueOf(second.committed(Set.of(where))));
            rows.put("lag", second.currentLag(where).orElse(-1));
            second.commitSync();
            rows.put("in use", List.of(deleteGroup(group), alterOffset(group, where), deleteOffset(group, where)));
        }
        rows.put("offsets", offsetsOf(group));
        rows.put("altered", List.of(alterOffset(group, where), offsetsOf(group), deleteOffset(group, where),
            offsetsOf(group)));
        rows.put("listed", admin.listGroups().all().get().stream().filter(row -> row.groupId().equals(group))
            .map(Object::toString).toList());
        rows.put("empty", described("resume"));
        rows.put("deleted", List.of(deleteGroup(group), deleteGroup(named("no-such")), described("resume")));
        return rows;
    }

    static Object offsetsOf(String group) {
        return attempt(() ->
            String.valueOf(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()));
    }

    static Object deleteGroup(String group) {
        return attempt(() -> admin.deleteConsumerGroups(List.of(group)).all().get());
    }

    static Object alterOffset(String group, TopicPartition where) {
        return attempt(() -> admin.alterConsumerGroupOffsets(group, Map.of(where, new OffsetAndMetadata(1))).all().get());
    }

    static Object deleteOffset(String group, TopicPartition where) {
        return attempt(() -> admin.deleteConsumerGroupOffsets(group, Set.of(where)).all().get());
    }

    // -- tools ------------------------------------------------------------------------------------

    interface Main {
        void run(String[] arguments) throws Exception;
    }

    /** Runs the main method of a tool in this JVM, and returns its status and the lines that it printed. */
    static List<Object> tool(Main main, String input, String... arguments) throws Exception {
        PrintStream out = System.out;
        InputStream in = System.in;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        List<Integer> statuses = Collections.synchronizedList(new ArrayList<>());
        Exit.Procedure ends = (status, message) -> {
            statuses.add(status);
            throw new Ended();
        };
        Exit.setExitProcedure(ends);
        Exit.setHaltProcedure(ends);
        System.setOut(new PrintStream(printed, true));
        System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
        try {
            main.run(arguments);
        } catch (Ended ended) {
            // The first status is the tool's: a tool that catches everything calls exit once more.
        } finally {
            System.out.flush();
            System.setOut(out);
            System.setIn(in);
        }
        List<Object> rows = new ArrayList<>(List.of(statuses.isEmpty() ? 0 : statuses.get(0)));
        rows.addAll(List.of(printed.toString(StandardCharsets.UTF_8).strip().split("\n")));
        return rows;
    }

    static List<Object> plain(List<Object> lines) {
        return lines.stream().map(line -> line instanceof String text ? (Object) withoutIds(text)
            .replaceAll("TopicId: \\S+", "TopicId: ID").strip() : line).toList();
    }

    static Object console() throws Exception {
        String topic = make("console", 1, Map.of());
        var wrote = tool(ConsoleProducer::main, "h1:v1\tk1\tone\nh2:v2\tk2\ttwo\n", "--bootstrap-server", bootstrap,
            "--topic", topic, "--reader-property", "parse.key=true", "--reader-property", "parse.headers=true");
        var read = tool(ConsoleConsumer::main, "", "--bootstrap-server", bootstrap, "--topic", topic, "--from-beginning",
            "--max-messages", "2", "--timeout-ms", "10000", "--formatter-property", "print.key=true",
            "--formatter-property", "print.headers=true", "--formatter-property", "print.offset=true",
            "--formatter-property", "print.partition=true");
        var idle = tool(ConsoleConsumer::main, "", "--bootstrap-server", bootstrap, "--topic", topic, "--partition", "0",
            "--offset", "1", "--timeout-ms", "1500", "--isolation-level", "read_committed");
        return told("wrote", plain(wrote), "read", plain(read), "idle", plain(idle));
    }

    static Object verifiable() throws Exception {
        String topic = make("verifiable", 1, Map.of());
        var wrote = tool(VerifiableProducer::main, "", "--bootstrap-server", bootstrap, "--topic", topic,
            "--max-messages", "20", "--acks", "-1");
        var read = tool(VerifiableConsumer::main, "", "--bootstrap-server", bootstrap, "--topic", topic, "--group-id",
            named("verifiable"), "--max-messages", "20", "--reset-policy", "earliest");
        return told("wrote", counted(wrote), "read", counted(read));
    }

    /** Returns what a tool printed of each event, and how many records it consumed. */
    static Object counted(List<Object> lines) throws Exception {
        Map<String, Object> rows = new TreeMap<>();
        long consumed = 0;
        for (Object line : lines.subList(1, lines.size())) {
            JsonNode event = JSON.readTree((String) line);
            String name = event.path("name").asText();
            if (name.equals("records_consumed")) {
                consumed += event.path("count").asLong();
            } else if (name.equals("producer_send_success")) {
                continue; // Another thread prints it, perhaps after the tool has returned.
            } else if (name.equals("tool_data")) {
                rows.put("told", List.of(event.path("sent").asInt(), event.path("acked").asInt()));
            } else {
                rows.put(name, event.path("success").asText());
            }
        }
        rows.put("consumed", consumed);
        return rows;
    }

    static Object performance() throws Exception {
        String topic = make("performance", 1, Map.of());
        var wrote = tool(ProducerPerformance::main, "", "--topic", topic, "--num-records", "2000", "--record-size", "100",
            "--throughput", "-1", "--bootstrap-server", bootstrap, "--command-property", "acks=all",
            "--command-property", "compression.type=lz4");
        String last = (String) wrote.get(wrote.size() - 1);
        var read = tool(ConsumerPerformance::main, "", "--bootstrap-server", bootstrap, "--topic", topic, "--num-records",
            "2000", "--timeout", "10000");
        String row = (String) read.get(read.size() - 1);
        String[] fields = row.split(",");
        return told("wrote", last.replaceAll(" sent.*", " sent"), "read", fields.length > 4 ? fields[4].strip() : row,
            "offsets", tool(GetOffsetShell::main, "", "--bootstrap-server", bootstrap, "--topic-partitions", topic));
    }

    static Object commands() throws Exception {
        String topic = named("commanded");
        var create = tool(TopicCommand::main, "", "--bootstrap-server", bootstrap, "--create", "--topic", topic,
            "--partitions", "2", "--replication-factor", "" + factor, "--config", "retention.ms=777777");
        var again = tool(TopicCommand::main, "", "--bootstrap-server", bootstrap, "--create", "--topic", topic,
            "--partitions", "2", "--replication-factor", "" + factor);
        eventually(() -> admin.listTopics().names().get().contains(topic), seen -> seen);
        var described = tool(TopicCommand::main, "", "--bootstrap-server", bootstrap, "--describe", "--topic", topic);
        var placed = plain(described).stream()
            .map(row -> String.valueOf(row).replaceAll("(Leader|Replicas|Isr): [\\d,]+", "$1: N")).toList();
        var groups = tool(ConsumerGroupCommand::main, "", "--bootstrap-server", bootstrap, "--describe", "--group",
            named("verifiable"));
        var unknown = tool(ConsumerGroupCommand::main, "", "--bootstrap-server", bootstrap, "--describe", "--group",
            named("no-such"));
        var columns = groups.stream().map(row -> String.valueOf(row).replaceAll("\\s+", " ")).toList();
        var delete = tool(TopicCommand::main, "", "--bootstrap-server", bootstrap, "--delete", "--topic", topic);
        return told("create", plain(create), "again", plain(again), "described", placed, "groups", columns, "unknown",
            plain(unknown), "delete", plain(delete));
    }

    public static void main(String[] arguments) throws Exception {
        bootstrap = arguments[0];
        factor = (short) Math.min(3, Integer.parseInt(arguments[1]));
        looks = factor == 1 ? 1 : 8;
        admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap, "default.api.timeout.ms", 15_000,
            "request.timeout.ms", 10_000));
        Set<String> only = Set.of(Arrays.copyOfRange(arguments, 2, arguments.length));
        Map<String, Step> steps = new LinkedHashMap<>();
        steps.put("cluster", Steps::cluster);
        steps.put("topics", Steps::topics);
        steps.put("configs", Steps::configs);
        steps.put("codecs", Steps::codecs);
        steps.put("refused", Steps::refused);
        steps.put("offsets", Steps::offsets);
        steps.put("transactions", Steps::transactions);
        steps.put("rebalance", Steps::rebalance);
        steps.put("static_members", Steps::staticMembers);
        steps.put("commit_and_resume", Steps::commitAndResume);
        steps.put("console", Steps::console);
        steps.put("verifiable", Steps::verifiable);
        steps.put("performance", Steps::performance);
        steps.put("commands", Steps::commands);
        PrintStream out = System.out;
        var pool = Executors.newCachedThreadPool(work -> {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
        });
        for (var step : steps.entrySet()) {
            if (!only.isEmpty() && !only.contains(step.getKey())) {
                continue;
            }
            long begun = System.nanoTime();
            Future<Object> running = pool.submit(() -> step.getValue().run());
            Object outcome;
            try {
                outcome = running.get(STEP_SECONDS, TimeUnit.SECONDS);
            } catch (Exception error) {
                outcome = told("raised", failure(error));
            }
            System.setOut(out);
            out.println(JSON.writeValueAsString(told("step", step.getKey(), "outcome", outcome)));
            out.flush();
            System.err.printf("%s: %.2f s%n", step.getKey(), (System.nanoTime() - begun) / 1e9);
        }
        Runtime.getRuntime().halt(0);
    }
}
