package org.apache.zookeeper.client;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;

/**
 * Takes the place of the class of this name in ZooKeeper 3.4, which Kafka 2.1 uses. That one cuts the host out of
 * `InetSocketAddress.toString`, whose text is another one since Java 14, and so it never connects.
 */
public final class StaticHostProvider implements HostProvider {
    private final List<InetSocketAddress> servers;
    private Iterator<InetSocketAddress> rest;

    public StaticHostProvider(Collection<InetSocketAddress> servers) {
        this.servers = List.copyOf(servers);
        rest = this.servers.iterator();
    }

    @Override
    public int size() {
        return servers.size();
    }

    @Override
    public InetSocketAddress next(long delayMs) {
        if (!rest.hasNext()) {
            rest = servers.iterator();
            try {
                Thread.sleep(delayMs);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        InetSocketAddress next = rest.next();
        return new InetSocketAddress(next.getHostString(), next.getPort());
    }

    @Override
    public void onConnected() {
        rest = servers.iterator();
    }
}
