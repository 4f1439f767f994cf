import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.kafka.tools.DumpLogSegments;

/**
 * Runs Kafka's dump tool for each line of standard input, which is its arguments parted by blanks.
 * Prints "R", exit status, what it wrote to stdout and to stderr in base64, and the exception, parted by tabs.
 */
public class DumpFiles {
    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            String died = "";
            try {
                DumpLogSegments.main(line.split(" "));
            } catch (Throwable refused) {
                died = refused.toString().replace('\n', ' ').replace('\t', ' ');
            }
            System.out.flush();
            String texts = coded(out) + "\t" + coded(err);
            answers.println("R\t" + (died.isEmpty() ? 0 : 1) + "\t" + texts + "\t" + died);
        }
    }

    private static String coded(ByteArrayOutputStream bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }
}
