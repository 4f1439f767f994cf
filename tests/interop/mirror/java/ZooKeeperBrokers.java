import java.io.File;
import java.io.FileReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaServerStartable;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * Runs brokers of Kafka 2.1 in one JVM: an argument is a `server.properties`, or the folder of a ZooKeeper that is
 * started at the port which the file `port` in it names. Prints `up` when all have started, and ends when its input
 * ends.
 */
class ZooKeeperBrokers {
    static final int TICK_MS = 500;

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        for (String argument : arguments) {
            File given = new File(argument);
            if (given.isDirectory()) {
                startZooKeeper(given);
            } else {
                Properties properties = new Properties();
                try (var reader = new FileReader(given)) {
                    properties.load(reader);
                }
                new KafkaServerStartable(KafkaConfig.fromProps(properties, false)).startup();
            }
        }
        out.println("up");
        out.flush();
        while (System.in.read() >= 0) {
            // The end of the input is the order to stop.
        }
        Runtime.getRuntime().halt(0);
    }

    static void startZooKeeper(File folder) throws Exception {
        int port = Integer.parseInt(Files.readString(Path.of(folder.getPath(), "port")).trim());
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress("127.0.0.1", port), 100);
        connections.startup(new ZooKeeperServer(folder, folder, TICK_MS));
    }
}
