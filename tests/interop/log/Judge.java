import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.tools.DumpLogSegments;

/**
 * One JVM that is asked a line of JSON at a time: the dump tool, a broker with its controller, and clients of it.
 * An answer is a line of JSON too, {"answer": ...} or {"error": "..."}.
 */
public class Judge {
    private static final ObjectMapper JSON = new ObjectMapper();
    private KafkaRaftServer server;
    private String address;

    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Judge judge = new Judge();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("answer", judge.answer(JSON.readTree(line)));
            } catch (Throwable refused) {
                refused.printStackTrace();
                answer.put("error", refused.toString());
            }
            answers.write((JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            answers.flush();
        }
        System.exit(0);
    }

    private JsonNode answer(JsonNode question) throws Exception {
        return switch (question.get("do").asText()) {
            case "dump" -> dump(question.get("arguments"));
            case "start" -> start(question.get("config"));
            case "stop" -> stop();
            case "offsets" -> offsets(partitions(question), question.get("timestamps"));
            case "producers" -> producers(partitions(question));
            case "read" -> read(partitions(question), question.get("isolation").asText());
            case "produce" -> produce(question);
            case "at" -> at(question.get("address").asText());
            case "consume" -> consume(question);
            case "format" -> format(question.get("config"), question.get("cluster").asText());
            case "create" -> create(question);
            case "commit" -> commit(partitions(question), question.get("group").asText(), question.get("offsets"));
            case "committed" -> committed(question.get("group").asText());
            case "topic" -> topic(question.get("topic").asText());
            default -> throw new IllegalArgumentException(question.get("do").asText());
        };
    }

    /** What the dump tool would end its process with. */
    private static class Ended extends Error {
        final int status;

        Ended(int status) {
            this.status = status;
        }
    }

    private JsonNode dump(JsonNode arguments) throws Exception {
        List<String> words = new ArrayList<>();
        arguments.forEach(word -> words.add(word.asText()));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream outBefore = System.out;
        PrintStream errBefore = System.err;
        int status = 0;
        System.setOut(new PrintStream(out, false, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((code, message) -> { throw new Ended(code); });
        try {
            DumpLogSegments.main(words.toArray(String[]::new));
        } catch (Ended end) {
            status = end.status;
        } catch (Throwable death) {
            death.printStackTrace();
            status = 1;
        } finally {
            Exit.resetExitProcedure();
            System.out.flush();
            System.setOut(outBefore);
            System.setErr(errBefore);
        }
        ObjectNode ended = JSON.createObjectNode().put("status", status);
        return ended.put("out", out.toString(StandardCharsets.UTF_8)).put("err", err.toString(StandardCharsets.UTF_8));
    }

    private static Properties properties(JsonNode config) {
        Properties properties = new Properties();
        config.properties().forEach(field -> properties.put(field.getKey(), field.getValue().asText()));
        return properties;
    }

    /** As kafka-storage format --standalone; answers with its exit status. */
    private JsonNode format(JsonNode config, String cluster) throws Exception {
        Path file = Files.createTempFile("server", ".properties");
        try (var out = Files.newOutputStream(file)) {
            properties(config).store(out, null);
        }
        String[] words = {"format", "--standalone", "-t", cluster, "-c", file.toString()};
        int status = StorageTool.execute(words, System.err);
        Files.delete(file);
        return JSON.getNodeFactory().numberNode(status);
    }

    private JsonNode start(JsonNode config) {
        Properties properties = properties(config);
        address = properties.getProperty("listeners").split(",")[0].split("://")[1];
        server = new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
        server.startup();
        return null;
    }

    private JsonNode stop() {
        server.shutdown();
        server.awaitShutdown();
        return null;
    }

    private Map<String, Object> client() {
        return new HashMap<>(Map.of("bootstrap.servers", address));
    }

    private static List<TopicPartition> partitions(JsonNode question) {
        List<TopicPartition> found = new ArrayList<>();
        for (JsonNode pair : question.get("partitions")) {
            found.add(new TopicPartition(pair.get(0).asText(), pair.get(1).asInt()));
        }
        return found;
    }

    private interface Asked {
        KafkaFuture<ListOffsetsResultInfo> of(TopicPartition partition);
    }

    private JsonNode offsets(List<TopicPartition> partitions, JsonNode timestamps) throws Exception {
        ObjectNode found = JSON.createObjectNode();
        Map<String, OffsetSpec> specs = new HashMap<>();
        specs.put("earliest", OffsetSpec.earliest());
        specs.put("earliest_local", OffsetSpec.earliestLocal());
        specs.put("latest", OffsetSpec.latest());
        specs.put("lso", OffsetSpec.latest());
        specs.put("max_timestamp", OffsetSpec.maxTimestamp());
        timestamps.forEach(number -> specs.put(number.asText(), OffsetSpec.forTimestamp(number.asLong())));
        try (Admin admin = Admin.create(client())) {
            for (Map.Entry<String, OffsetSpec> spec : specs.entrySet()) {
                boolean committed = spec.getKey().equals("lso");
                IsolationLevel level = committed ? IsolationLevel.READ_COMMITTED : IsolationLevel.READ_UNCOMMITTED;
                Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
                partitions.forEach(partition -> asked.put(partition, spec.getValue()));
                Asked result = admin.listOffsets(asked, new ListOffsetsOptions(level))::partitionResult;
                for (TopicPartition partition : partitions) {
                    ArrayNode row = found.withObject("/" + partition).putArray(spec.getKey());
                    try {
                        ListOffsetsResultInfo info = result.of(partition).get();
                        row.add(info.offset()).add(info.timestamp()).add(info.leaderEpoch().orElse(-1));
                    } catch (ExecutionException refused) {
                        row.add(refused.getCause().getClass().getSimpleName());
                    }
                }
            }
        }
        return found;
    }

    private JsonNode producers(List<TopicPartition> partitions) throws Exception {
        ObjectNode found = JSON.createObjectNode();
        try (Admin admin = Admin.create(client())) {
            var result = admin.describeProducers(partitions);
            for (TopicPartition partition : partitions) {
                ArrayNode rows = found.putArray(partition.toString());
                for (ProducerState state : result.partitionResult(partition).get().activeProducers()) {
                    ArrayNode row = rows.addArray();
                    row.add(state.producerId()).add(state.producerEpoch()).add(state.lastSequence());
                    row.add(state.lastTimestamp()).add(state.coordinatorEpoch().orElse(-1));
                    row.add(state.currentTransactionStartOffset().orElse(-1));
                }
            }
        }
        return found;
    }

    /** The records of each partition from its start to its end, as `kmirror cat -o json` writes them. */
    private JsonNode read(List<TopicPartition> partitions, String isolation) throws Exception {
        Map<String, Object> config = client();
        config.put("isolation.level", isolation);
        config.put("max.poll.records", 10_000);
        ObjectNode found = JSON.createObjectNode();
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            partitions.forEach(partition -> found.putArray(partition.toString()));
            while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(5))) {
                    ObjectNode row = found.withArray("/" + record.topic() + "-" + record.partition()).addObject();
                    row.put("offset", record.offset()).put("timestamp", record.timestamp());
                    row.put("timestamp_type", record.timestampType().name);
                    row.put("leader_epoch", record.leaderEpoch().orElse(null));
                    row.put("key", record.key()).put("value", record.value());
                    ArrayNode headers = row.putArray("headers");
                    for (Header header : record.headers()) {
                        headers.addArray().add(header.key()).add(header.value());
                    }
                }
            }
        }
        return found;
    }

    private JsonNode create(JsonNode question) throws Exception {
        Map<String, String> configs = new HashMap<>();
        question.get("configs").properties().forEach(field -> configs.put(field.getKey(), field.getValue().asText()));
        int count = question.get("count").asInt();
        try (Admin admin = Admin.create(client())) {
            NewTopic topic = new NewTopic(question.get("topic").asText(), count, (short) 1).configs(configs);
            admin.createTopics(List.of(topic)).all().get();
        }
        return null;
    }

    /** The ids and epochs by which the broker knows a topic, and what is configured for it alone. */
    private JsonNode topic(String name) throws Exception {
        ObjectNode found = JSON.createObjectNode();
        try (Admin admin = Admin.create(client())) {
            var told = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
            found.put("id", told.topicId().toString()).put("count", told.partitions().size());
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, name);
            ObjectNode configs = found.putObject("configs");
            for (var entry : admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()) {
                if (entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG) {
                    configs.put(entry.name(), entry.value());
                }
            }
        }
        return found;
    }

    /** Lets the clients speak to another broker than the one in this process. */
    private JsonNode at(String other) {
        address = other;
        return null;
    }

    /** The values of a topic as a member of a group gets them, as many as are asked for; their offsets are committed. */
    private JsonNode consume(JsonNode question) throws Exception {
        Map<String, Object> config = client();
        question.get("config").properties().forEach(field -> config.put(field.getKey(), field.getValue().asText()));
        ArrayNode values = JSON.createArrayNode();
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(question.get("topic").asText()));
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (values.size() < question.get("count").asInt() && System.nanoTime() < deadline) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    values.add(new String(record.value(), StandardCharsets.UTF_8));
                }
            }
            consumer.commitSync();
        }
        return values;
    }

    private JsonNode commit(List<TopicPartition> partitions, String group, JsonNode offsets) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> wanted = new HashMap<>();
        for (int i = 0; i < partitions.size(); i++) {
            wanted.put(partitions.get(i), new OffsetAndMetadata(offsets.get(i).asLong(), "by the judge"));
        }
        try (Admin admin = Admin.create(client())) {
            admin.alterConsumerGroupOffsets(group, wanted).all().get();
        }
        return null;
    }

    private JsonNode committed(String group) throws Exception {
        ObjectNode found = JSON.createObjectNode();
        try (Admin admin = Admin.create(client())) {
            admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()
                .forEach((tp, told) -> found.putArray(tp.toString()).add(told.offset()).add(told.metadata()));
        }
        return found;
    }

    /** Sends the values to one partition and ends the transaction, if it is one, as asked; answers with the offsets. */
    private JsonNode produce(JsonNode question) throws Exception {
        TopicPartition partition = partitions(question).get(0);
        Map<String, Object> config = client();
        question.get("config").properties().forEach(field -> config.put(field.getKey(), field.getValue().asText()));
        String end = question.get("end").asText();
        ArrayNode offsets = JSON.createArrayNode();
        var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        try {
            if (!end.equals("none")) {
                producer.initTransactions();
                producer.beginTransaction();
            }
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode value : question.get("values")) {
                byte[] bytes = value.asText().getBytes(StandardCharsets.UTF_8);
                sent.add(producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), bytes, bytes)));
            }
            producer.flush();
            for (Future<RecordMetadata> one : sent) {
                offsets.add(one.get().offset());
            }
            if (end.equals("commit")) {
                producer.commitTransaction();
            } else if (end.equals("abort")) {
                producer.abortTransaction();
            }
        } finally {
            producer.close(Duration.ZERO);
        }
        return offsets;
    }
}
