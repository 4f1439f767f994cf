// Runs Kafka's own classes on messages and batches. Each line of stdin is a JSON object, and so is each response.
//   {"m", "v", "hex"}   -> {"hex", "json"}   the bytes decoded, then encoded again, and as JSON of Kafka's converter
//   {"m", "v", "json"}  -> {"hex"}           the bytes of the message in JSON
//   {"m"}               -> {"versions"}      the first and the last version
//   {"batches": hex}    -> {"batches"}       the record batches, of all formats, with their records
//   {"errors": true}    -> {"errors": [[name, code, retriable], ...]}
//   {"version": true}   -> {"version"}       the version of Kafka
// and {"error"} if Kafka throws; together with "json" if it cannot encode the decoded message.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.AppInfoParser;

public final class Oracle {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Map<String, String> CLASSES = new HashMap<>();
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] arguments) throws Exception {
        findClasses();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode response = MAPPER.createObjectNode();
            try {
                JsonNode request = MAPPER.readTree(line);
                if (request.has("errors")) response.set("errors", errors());
                else if (request.has("version")) response.put("version", AppInfoParser.getVersion());
                else if (request.has("batches")) response.set("batches", batches(bytes(request.get("batches"))));
                else convert(request, response);
            } catch (Throwable thrown) {
                Throwable cause = thrown instanceof InvocationTargetException ? thrown.getCause() : thrown;
                response.put("error", String.valueOf(cause));
            }
            out.println(MAPPER.writeValueAsString(response));
            if (!in.ready()) out.flush();
        }
        out.flush();
    }

    private static void convert(JsonNode request, ObjectNode response) throws Exception {
        String name = className(request.get("m").asText());
        if (!request.has("v")) {
            Class<?> type = Class.forName(name);
            short low = type.getField("LOWEST_SUPPORTED_VERSION").getShort(null);
            response.putArray("versions").add(low).add(type.getField("HIGHEST_SUPPORTED_VERSION").getShort(null));
            return;
        }
        short version = (short) request.get("v").asInt();
        Message message;
        if (request.has("hex")) {
            message = (Message) Class.forName(name).getConstructor().newInstance();
            message.read(new ByteBufferAccessor(bytes(request.get("hex"))), version);
            response.set("json", (JsonNode) converter(name, "write", Class.forName(name), short.class)
                .invoke(null, message, version));
        } else {
            message = (Message) converter(name, "read", JsonNode.class, short.class)
                .invoke(null, request.get("json"), version);
        }
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(bytes), cache, version);
        response.put("hex", HEX.formatHex(bytes.array(), 0, bytes.position()));
    }

    private static ByteBuffer bytes(JsonNode hex) {
        return ByteBuffer.wrap(HEX.parseHex(hex.asText()));
    }

    private static ArrayNode batches(ByteBuffer bytes) {
        ArrayNode rows = MAPPER.createArrayNode();
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(bytes).batches()) {
            batch.ensureValid();
            ObjectNode row = rows.addObject();
            row.put("magic", batch.magic()).put("codec", batch.compressionType().id);
            if (batch.magic() >= RecordBatch.MAGIC_VALUE_V2) {
                row.put("baseOffset", batch.baseOffset()).put("lastOffset", batch.lastOffset());
                row.put("timestampType", batch.timestampType().id).put("maxTimestamp", batch.maxTimestamp());
                row.put("producerId", batch.producerId()).put("producerEpoch", batch.producerEpoch());
                row.put("baseSequence", batch.baseSequence());
                row.put("isTransactional", batch.isTransactional()).put("isControl", batch.isControlBatch());
            }
            ArrayNode records = row.putArray("records");
            for (Record record : batch) {
                ObjectNode element = records.addObject();
                element.put("offset", record.offset()).put("timestamp", record.timestamp());
                element.put("key", array(record.key())).put("value", array(record.value()));
                ArrayNode headers = element.putArray("headers");
                for (Header header : record.headers()) {
                    headers.addObject().put("key", header.key()).put("value", header.value());
                }
            }
        }
        return rows;
    }

    private static byte[] array(ByteBuffer bytes) {
        if (bytes == null) return null;
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return copy;
    }

    private static ArrayNode errors() {
        ArrayNode rows = MAPPER.createArrayNode();
        for (Errors error : Errors.values()) {
            ArrayNode row = rows.addArray();
            row.add(error.name()).add(error.code()).add(error.exception() instanceof RetriableException);
        }
        return rows;
    }

    private static Method converter(String name, String method, Class<?>... parameters) throws Exception {
        return Class.forName(name + "JsonConverter").getMethod(method, parameters);
    }

    private static String className(String message) {
        String found = CLASSES.containsKey(message + "Data") ? CLASSES.get(message + "Data") : CLASSES.get(message);
        if (found == null) throw new IllegalArgumentException("no class for " + message);
        return found;
    }

    // Each message has a converter in its own package.
    private static void findClasses() throws Exception {
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!path.endsWith(".jar")) continue;
            try (ZipFile jar = new ZipFile(path)) {
                for (ZipEntry entry : java.util.Collections.list(jar.entries())) {
                    String name = entry.getName();
                    if (!name.endsWith("JsonConverter.class") || name.contains("$")) continue;
                    String type = name.substring(0, name.length() - "JsonConverter.class".length()).replace('/', '.');
                    CLASSES.put(type.substring(type.lastIndexOf('.') + 1), type);
                }
            }
        }
    }
}
