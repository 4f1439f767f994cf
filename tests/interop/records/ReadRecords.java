import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;

/** Prints what the JVM client reads from each file of a folder: F begins a file, B a batch, R a record, E an exception. */
public class ReadRecords {
    public static void main(String[] folder) throws Exception {
        StringBuilder out = new StringBuilder();
        Path[] files;
        try (Stream<Path> found = Files.list(Path.of(folder[0]))) {
            files = found.sorted().toArray(Path[]::new);
        }
        for (Path file : files) {
            out.append("F\n");
            try {
                ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
                for (MutableRecordBatch batch : MemoryRecords.readableRecords(bytes).batches()) {
                    batch.ensureValid();
                    out.append("B " + batch.baseOffset() + " " + batch.lastOffset() + " " + batch.compressionType());
                    out.append(" " + batch.timestampType() + " " + batch.maxTimestamp() + " " + batch.producerId());
                    out.append(" " + batch.isControlBatch() + "\n");
                    for (Record record : batch) {
                        out.append("R " + record.offset() + " " + record.timestamp());
                        out.append(" " + hex(record.key()) + " " + hex(record.value()));
                        for (Header header : record.headers()) {
                            byte[] name = header.key().getBytes(StandardCharsets.UTF_8);
                            out.append(" " + hex(ByteBuffer.wrap(name)) + "=");
                            out.append(header.value() == null ? "null" : hex(ByteBuffer.wrap(header.value())));
                        }
                        out.append("\n");
                    }
                }
            } catch (Throwable refused) {
                out.append("E " + refused + "\n");
            }
        }
        System.out.print(out);
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return "null";
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HexFormat.of().formatHex(copy);
    }
}
