import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Exit;

/** Runs Kafka's command line tools in one JVM: a line of JSON [class, word, ...] in, a line {status, out, err} out. */
public class Tools {
    private static class Ended extends Error {
        final int status;

        Ended(int status) {
            super("ended", null, false, false);
            this.status = status;
        }
    }

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((status, message) -> {
            throw new Ended(status);
        });
        ObjectMapper json = new ObjectMapper();
        PrintStream answers = System.out, errors = System.err;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = json.readValue(line, String[].class);
            ByteArrayOutputStream out = new ByteArrayOutputStream(), err = new ByteArrayOutputStream();
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            int status = run(words);
            System.setOut(answers);
            System.setErr(errors);
            ObjectNode told = json.createObjectNode().put("status", status);
            told.put("out", out.toString(StandardCharsets.UTF_8)).put("err", err.toString(StandardCharsets.UTF_8));
            answers.println(json.writeValueAsString(told));
            answers.flush();
        }
    }

    private static int run(String[] words) throws Exception {
        String[] rest = java.util.Arrays.copyOfRange(words, 1, words.length);
        try {
            Class.forName(words[0]).getMethod("main", String[].class).invoke(null, (Object) rest);
            return 0;
        } catch (InvocationTargetException ended) {
            for (Throwable cause = ended; cause != null; cause = cause.getCause()) {
                if (cause instanceof Ended) {
                    return ((Ended) cause).status;
                }
            }
            ended.printStackTrace(System.err);
            return -1;
        }
    }
}
