package com.lendpay.partner;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Consumer;

/** A client that repeats what the README names, so that each call is carried out once in the end. */
public final class PartnerClient extends ApiClient {
    /** For one attempt: more than the service's own limit, so that its answer is got. */
    private static final Duration LIMIT = Duration.ofSeconds(35);

    /** A client that sends an API key. */
    public PartnerClient(String base, String key) {
        this(base);
        setRequestInterceptor(request -> request.header("X-Service-ApiKey", key));
    }

    /** A client to which an interceptor has to be set that authenticates requests. */
    public PartnerClient(String base) {
        updateBaseUri(base);
        setReadTimeout(LIMIT);
    }

    @Override
    public HttpClient getHttpClient() {
        return new RepeatingHttpClient(super.getHttpClient());
    }

    /** The interceptor that was set, and what every request gets besides. It is called once for each call. */
    @Override
    public Consumer<HttpRequest.Builder> getRequestInterceptor() {
        Consumer<HttpRequest.Builder> ours = PartnerClient::complete;
        var theirs = super.getRequestInterceptor();
        return theirs == null ? ours : theirs.andThen(ours);
    }

    private static void complete(HttpRequest.Builder builder) {
        builder.setHeader("User-Agent", "lendpay-partner-java/@VERSION@");
        var request = builder.build();
        var creates = request.method().equals("POST") && request.uri().getPath().endsWith("/payments/buyers");
        if (creates && request.headers().firstValue("Idempotency-Key").isEmpty()) {
            builder.setHeader("Idempotency-Key", UUID.randomUUID().toString());
        }
    }
}
