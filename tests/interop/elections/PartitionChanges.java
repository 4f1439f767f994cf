import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.controller.PartitionChangeBuilder;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Says how Kafka's controller changes partitions. A line of input is a case, its fields have a space between them:
 * replicas, ISR, eligible replicas, last known leader, leader, the new ISR, who may lead, who ended uncleanly,
 * min.insync.replicas, and whether an unclean election is allowed; lists have commas, "-" is an empty one.
 * A line of output is the change: leader, ISR, eligible replicas, last known leader, with "=" for what stays.
 */
public final class PartitionChanges {
    private static List<Integer> list(String text) {
        return text.equals("-") ? List.of() : Arrays.stream(text.split(",")).map(Integer::valueOf).toList();
    }

    private static int[] array(String text) {
        return list(text).stream().mapToInt(Integer::intValue).toArray();
    }

    private static String shown(List<Integer> members) {
        if (members == null) {
            return "=";
        }
        return members.isEmpty() ? "-" : members.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static String change(String line) {
        String[] part = line.split(" ");
        int[] replicas = array(part[0]);
        PartitionRegistration partition = new PartitionRegistration.Builder()
            .setReplicas(replicas)
            .setDirectories(DirectoryId.migratingArray(replicas.length))
            .setIsr(array(part[1]))
            .setElr(array(part[2]))
            .setLastKnownElr(array(part[3]))
            .setLeader(Integer.valueOf(part[4]))
            .setLeaderRecoveryState(part[10].equals("true") ? LeaderRecoveryState.RECOVERING : LeaderRecoveryState.RECOVERED)
            .setLeaderEpoch(7)
            .setPartitionEpoch(2)
            .build();
        Set<Integer> able = Set.copyOf(list(part[6]));
        PartitionChangeBuilder builder = new PartitionChangeBuilder(partition, Uuid.ONE_UUID, 0, able::contains,
            MetadataVersion.fromFeatureLevel((short) 30), Integer.parseInt(part[8]), true);
        builder.setTargetIsr(list(part[5])).setDefaultDirProvider(id -> DirectoryId.MIGRATING);
        if (part[9].equals("true")) {
            builder.setElection(PartitionChangeBuilder.Election.UNCLEAN);
        }
        if (part[11].equals("true")) {
            builder.setTargetLeaderRecoveryState(LeaderRecoveryState.RECOVERED);
        }
        if (!part[7].equals("-")) {
            builder.setUncleanShutdownReplicas(list(part[7]));
        }
        return builder.build().map(built -> {
            PartitionChangeRecord record = (PartitionChangeRecord) built.message();
            return String.join(" ", record.leader() == -2 ? "=" : String.valueOf(record.leader()), shown(record.isr()),
                shown(record.eligibleLeaderReplicas()), shown(record.lastKnownElr()),
                record.leaderRecoveryState() == -1 ? "=" : String.valueOf(record.leaderRecoveryState()));
        }).orElse("= = = = =");
    }

    public static void main(String[] arguments) throws Exception {
        new BufferedReader(new InputStreamReader(System.in)).lines().map(PartitionChanges::change)
            .forEach(System.out::println);
    }
}
