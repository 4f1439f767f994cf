import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that shows what it was set to; nobody waits by it. */
public final class Clock implements Time {
    public long now;

    public Clock(long now) {
        this.now = now;
    }

    @Override
    public long milliseconds() {
        return now;
    }

    @Override
    public long nanoseconds() {
        return now * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
    }
}
