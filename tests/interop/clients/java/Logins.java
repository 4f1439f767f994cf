import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;
import org.apache.kafka.common.security.scram.internals.ScramFormatter;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;

/**
 * Says what Kafka's client makes of a JAAS config, and of a password with SCRAM; a question and an answer are a line.
 *
 * `jaas HEX` is answered with the module and its options by name, or `refused`; `scram MECHANISM PASSWORD SALT
 * ITERATIONS` with the salted password. Texts are the hex of their UTF-8.
 */
public class Logins {
    static final HexFormat HEX = HexFormat.of();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        StringBuilder told = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            told.append(words[0].equals("jaas") ? jaas(text(words[1])) : scram(words)).append('\n');
        }
        System.out.print(told);
    }

    static String text(String hex) {
        return new String(HEX.parseHex(hex), StandardCharsets.UTF_8);
    }

    static String hex(String text) {
        return HEX.formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    static String jaas(String config) {
        AppConfigurationEntry entry;
        try {
            Map<String, ?> configs = Map.of(SaslConfigs.SASL_JAAS_CONFIG, new Password(config));
            entry = JaasContext.loadClientContext(configs).configurationEntries().get(0);
        } catch (IllegalArgumentException | NullPointerException refused) {
            return "refused";
        }
        Map<String, Object> options = new TreeMap<>();
        entry.getOptions().forEach((key, value) -> {
            if (key != null) {
                options.put(hex(key), value);
            }
        });
        StringBuilder told = new StringBuilder(hex(entry.getLoginModuleName()));
        options.forEach((key, value) -> told.append(' ').append(key).append('=').append(hex((String) value)));
        return told.toString();
    }

    static String scram(String[] words) throws Exception {
        ScramFormatter formatter = new ScramFormatter(ScramMechanism.forMechanismName(words[1]));
        byte[] salted = formatter.saltedPassword(text(words[2]), HEX.parseHex(words[3]), Integer.parseInt(words[4]));
        return HEX.formatHex(salted);
    }
}
