import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Reads bytes as hex, one string a line, and prints the UTF-16 code units of what Java makes of them. */
public class Utf8 {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        StringBuilder told = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String text = new String(HexFormat.of().parseHex(line), StandardCharsets.UTF_8);
            for (char unit : text.toCharArray()) {
                told.append(HexFormat.of().toHexDigits(unit));
            }
            told.append('\n');
        }
        System.out.print(told);
    }
}
