import java.lang.reflect.Proxy;
import java.util.concurrent.ScheduledFuture;
import org.apache.kafka.server.util.Scheduler;

/** Does at once what is to be done once, and never what is to be done again and again. */
public final class AtOnce implements Scheduler {
    @Override
    public void startup() {
    }

    @Override
    public void shutdown() {
    }

    @Override
    public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        if (periodMs < 0) {
            task.run();
        }
        Class<?>[] what = {ScheduledFuture.class};
        return (ScheduledFuture<?>) Proxy.newProxyInstance(
            getClass().getClassLoader(), what, (proxy, method, arguments) -> false);
    }

    @Override
    public void resizeThreadPool(int size) {
    }
}
