import java.io.FileReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;

/**
 * Runs real brokers in one JVM, from Kafka 3.9 on: an argument is a `server.properties`, whose folder is formatted by
 * Kafka's own storage tool unless it is already. Prints `up` when all have started. It ends when its input ends, at
 * once; SIGTERM is a controlled shutdown of each, as with Kafka's own main class.
 */
class Brokers {
    static final String CLUSTER_ID = "AAAAAAAAAAEAAAAAAAAAAQ";

    public static void main(String[] files) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        var servers = new ArrayList<KafkaRaftServer>();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> servers.forEach(KafkaRaftServer::shutdown)));
        for (String file : files) {
            Properties properties = new Properties();
            try (var reader = new FileReader(Path.of(file).toFile())) {
                properties.load(reader);
            }
            boolean leads = properties.getProperty("process.roles").contains("controller");
            String voters = leads ? "--standalone" : "--no-initial-controllers";
            int status = StorageTool.execute(
                new String[] {"format", "--ignore-formatted", "-t", CLUSTER_ID, "-c", file, voters}, System.err);
            if (status != 0) {
                throw new IllegalStateException("kafka-storage format ended with " + status);
            }
            var server = new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
            servers.add(server);
            server.startup();
        }
        out.println("up");
        out.flush();
        while (System.in.read() >= 0) {
            // Nothing is said to it: the end of the input is the order to stop.
        }
        Exit.halt(0);
    }
}
