import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.storage.internals.log.UnifiedLog;

/** Reads names of folders, one a line, and prints what a broker makes of each: "-", or topic, partition, legality. */
public class FolderNames {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder told = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            try {
                TopicPartition found = UnifiedLog.parseTopicPartitionName(new File(line));
                told.append(found.topic() + "\t" + found.partition() + "\t" + Topic.isValid(found.topic()) + "\n");
            } catch (KafkaException error) {
                told.append("-\n");
            }
        }
        System.out.write(told.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }
}
