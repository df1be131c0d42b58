import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.lendpay.partner.ApiException;
import com.lendpay.partner.PartnerClient;
import com.lendpay.partner.Webhooks;
import com.lendpay.partner.api.LendingApi;
import com.lendpay.partner.api.PaymentsApi;
import com.lendpay.partner.model.CreateBuyerRequest;
import com.lendpay.partner.model.OfferStatus;
import com.lendpay.partner.model.OfferWebhook;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.SignatureException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

/** The installed package against the running service: what it does besides the client, which ../Main.java tries. */
final class Main {
    private static final String BASE = System.getenv("LENDPAY_BASE");
    private static final String KEY = System.getenv("LENDPAY_KEY");
    private static final String REGISTRATION = System.getenv("LENDPAY_REGISTRATION");
    private static final String USER_AGENT = "lendpay-partner-java/" + System.getenv("LENDPAY_VERSION");
    private static final UUID APPLICATION = UUID.fromString(System.getenv("LENDPAY_APPLICATION"));
    private static final UUID DECLINED = UUID.fromString(System.getenv("LENDPAY_DECLINED"));
    private static final UUID OFFER = UUID.fromString(System.getenv("LENDPAY_OFFER"));

    private Main() {}

    /** Stands before the service, asks the sandbox for something once, and keeps the headers of each attempt. */
    private static final class Disturbed implements AutoCloseable {
        private final HttpServer server;
        private final HttpClient service = HttpClient.newHttpClient();
        private final List<Headers> sent = new CopyOnWriteArrayList<>();
        private final String asked;

        Disturbed(String asked) throws IOException {
            this.asked = asked;
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", this::pass);
            server.start();
        }

        PartnerClient client() {
            return new PartnerClient("http://127.0.0.1:" + server.getAddress().getPort(), KEY);
        }

        private void pass(HttpExchange exchange) throws IOException {
            try (exchange) {
                var request = HttpRequest.newBuilder(URI.create(BASE + exchange.getRequestURI()));
                for (var name : Set.of("X-Service-ApiKey", "Idempotency-Key", "Content-Type")) {
                    var value = exchange.getRequestHeaders().getFirst(name);
                    if (value != null) {
                        request.header(name, value);
                    }
                }
                if (asked != null && sent.isEmpty()) {
                    request.header("X-Sandbox", asked);
                }
                sent.add(exchange.getRequestHeaders());
                var body = exchange.getRequestBody().readAllBytes();
                request.method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
                var response = service.send(request.build(), BodyHandlers.ofByteArray());
                response.headers().firstValue("Retry-After").ifPresent(
                        after -> exchange.getResponseHeaders().set("Retry-After", after));
                exchange.sendResponseHeaders(response.statusCode(), response.body().length);
                exchange.getResponseBody().write(response.body());
            } catch (InterruptedException error) {
                throw new IOException(error);
            }
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }

    public static void main(String[] arguments) throws Exception {
        accept();
        createBuyerOnce();
        webhooks();
        readme(BASE, KEY, APPLICATION, OFFER);
        System.out.println(REGISTRATION + ": the package does as its README says");
    }

    private static void readme(String base, String key, UUID applicationId, UUID offerId) throws ApiException {
        var client = new PartnerClient(base, key);
        var offer = new LendingApi(client).acceptOffer(applicationId, offerId, null);
        var buyer = new PaymentsApi(client).createBuyer(new CreateBuyerRequest().name("Northwind Bicycles Ltd"), null);
        check(offer.getId().equals(offerId) && buyer.getName().equals("Northwind Bicycles Ltd"), "the README");
    }

    private static void accept() throws Exception {
        try (var limited = new Disturbed("rate-limited")) {
            var offer = new LendingApi(limited.client()).acceptOffer(APPLICATION, OFFER, null);
            check(offer.getStatus() == OfferStatus.CUSTOMER_ACCEPTED, "the status");
            check(limited.sent.size() == 2, "two attempts");
            check(limited.sent.get(1).getFirst("User-Agent").equals(USER_AGENT), "the user agent");
        }
        try (var refused = new Disturbed(null)) {
            check(acceptDeclined(refused.client()) == 409 && refused.sent.size() == 1, "one attempt");
        }
    }

    private static int acceptDeclined(PartnerClient client) {
        try {
            new LendingApi(client).acceptOffer(APPLICATION, DECLINED, null);
        } catch (ApiException error) {
            return error.getCode();
        }
        throw new AssertionError("a declined offer was accepted");
    }

    private static void createBuyerOnce() throws Exception {
        try (var lost = new Disturbed("lost-reply")) {
            var payments = new PaymentsApi(lost.client());
            var buyer = payments.createBuyer(new CreateBuyerRequest().registrationNumber(REGISTRATION), null);
            check(lost.sent.size() == 2, "two attempts");
            var first = lost.sent.get(0).getFirst("Idempotency-Key");
            check(first != null && first.equals(lost.sent.get(1).getFirst("Idempotency-Key")), "one key");
            var found = payments.listBuyers(REGISTRATION, null, null).getItems();
            check(found.size() == 1 && found.get(0).getId().equals(buyer.getId()), "one buyer");
        }
        try (var chosen = new Disturbed(null)) {
            new PaymentsApi(chosen.client()).createBuyer(new CreateBuyerRequest(), REGISTRATION);
            check(chosen.sent.get(0).get("Idempotency-Key").equals(List.of(REGISTRATION)), "the chosen key");
        }
    }

    private static void webhooks() throws Exception {
        var mapper = new PartnerClient(BASE).getObjectMapper();
        var cases = mapper.readTree(new File(System.getenv("LENDPAY_WEBHOOKS")));
        for (var one : cases) {
            var event = verified(headers(mapper, one), one.get("body").asText().getBytes(StandardCharsets.UTF_8));
            check((event != null) == (one.get("status").asInt() == 204), one.toString());
        }
        var headers = headers(mapper, cases.get(0));
        var body = cases.get(0).get("body").asText().getBytes(StandardCharsets.UTF_8);
        var event = (ObjectNode) verified(headers, body);
        check(event.get("type").asText().equals("buyer.created"), "the event");
        for (var name : headers.keySet()) {
            for (var forged : List.of("v1", "v1,no Base64", "v2,", "", "9".repeat(40))) {
                var others = new HashMap<>(headers);
                others.put(name, forged);
                check(verified(others, body) == null, name + ": " + forged);
            }
        }
        check(verified(Map.of(), body) == null && verified(headers, new byte[] {-1}) == null, "nothing that is signed");
        event.put("type", "offer.accepted").putObject("data").put("applicationId", APPLICATION.toString())
                .put("offerId", OFFER.toString()).put("status", "CustomerAccepted");
        var accepted = mapper.treeToValue(event, OfferWebhook.class);
        check(accepted.getData().getStatus() == OfferStatus.CUSTOMER_ACCEPTED, "the typed event");
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> headers(ObjectMapper mapper, JsonNode one) throws IOException {
        return mapper.treeToValue(one.get("headers"), Map.class);
    }

    private static JsonNode verified(Map<String, String> headers, byte[] body) throws IOException {
        try {
            return new Webhooks(System.getenv("LENDPAY_WEBHOOK_SECRET")).verify(headers::get, body);
        } catch (SignatureException refused) {
            return null;
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
