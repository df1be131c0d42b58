package com.lendpay.partner;

import java.io.IOException;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/** Repeats what the README names. The generated client calls {@link #send}; {@link #sendAsync} sends once. */
final class RepeatingHttpClient extends HttpClient {
    /** How often a request is sent at the most. */
    private static final int ATTEMPTS = 6;

    /** What is answered when the same request may succeed later. */
    private static final Set<Integer> REPEATED = Set.of(408, 429, 500, 503);

    private static final Flow.Subscription AT_ITS_END = new Flow.Subscription() {
        @Override
        public void request(long more) {}

        @Override
        public void cancel() {}
    };

    private final HttpClient client;

    RepeatingHttpClient(HttpClient client) {
        this.client = client;
    }

    @Override
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
            throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            long wait = 1L << (attempt - 1);
            try {
                var response = client.send(request, whole(handler));
                if (attempt == ATTEMPTS || !REPEATED.contains(response.statusCode())) {
                    return response;
                }
                var after = response.headers().firstValue("Retry-After").filter(text -> text.matches("[0-9]{1,9}"));
                wait = Math.max(wait, after.map(Long::parseLong).orElse(0L));
            } catch (IOException error) {
                if (attempt == ATTEMPTS) {
                    throw error;
                }
            }
            // A little longer by chance, so that many clients do not come back at the same moment.
            Thread.sleep((long) (wait * ThreadLocalRandom.current().nextDouble(1000, 1200)));
        }
    }

    /** Waits for the end of a body before it is handled, since a connection may break off in its midst. */
    private static <T> BodyHandler<T> whole(BodyHandler<T> handler) {
        return information -> BodySubscribers.mapping(BodySubscribers.ofByteArray(), body -> {
            var subscriber = handler.apply(information);
            subscriber.onSubscribe(AT_ITS_END);
            subscriber.onNext(List.of(ByteBuffer.wrap(body)));
            subscriber.onComplete();
            return subscriber.getBody().toCompletableFuture().join();
        });
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
        return client.sendAsync(request, handler);
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, PushPromiseHandler<T> pushes) {
        return client.sendAsync(request, handler, pushes);
    }

    @Override
    public Optional<CookieHandler> cookieHandler() {
        return client.cookieHandler();
    }

    @Override
    public Optional<Duration> connectTimeout() {
        return client.connectTimeout();
    }

    @Override
    public Redirect followRedirects() {
        return client.followRedirects();
    }

    @Override
    public Optional<ProxySelector> proxy() {
        return client.proxy();
    }

    @Override
    public SSLContext sslContext() {
        return client.sslContext();
    }

    @Override
    public SSLParameters sslParameters() {
        return client.sslParameters();
    }

    @Override
    public Optional<Authenticator> authenticator() {
        return client.authenticator();
    }

    @Override
    public Version version() {
        return client.version();
    }

    @Override
    public Optional<Executor> executor() {
        return client.executor();
    }
}
