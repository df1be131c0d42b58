import com.lendpay.partner.ApiClient;
import com.lendpay.partner.ApiException;
import com.lendpay.partner.api.EventsApi;
import com.lendpay.partner.api.LendingApi;
import com.lendpay.partner.api.PaymentsApi;
import com.lendpay.partner.model.BankAccount;
import com.lendpay.partner.model.BuyerType;
import com.lendpay.partner.model.CreateBuyerRequest;
import com.lendpay.partner.model.LendingError;
import com.lendpay.partner.model.OfferStatus;
import com.lendpay.partner.model.OfferType;
import com.lendpay.partner.model.PaymentsError;
import java.io.IOException;
import java.util.UUID;

/** The generated Java client against the running service: every kind of answer, read through its types. */
final class Main {
    private static final UUID APPLICATION = id("LENDPAY_APPLICATION");
    private static final UUID INDICATIVE = id("LENDPAY_INDICATIVE");
    private static final UUID DECLINED = id("LENDPAY_DECLINED");
    private static final UUID OFFER = id("LENDPAY_OFFER");
    private static final String KEY = System.getenv("LENDPAY_KEY");

    /** What the sandbox is asked for, and what AcceptOffer answers then. */
    private record Provoked(String asked, int status, String code) {}

    private static final Provoked[] PROVOKED = {
        new Provoked("bad-request", 400, "BadRequest"),
        new Provoked("timeout", 408, "Timeout"),
        new Provoked("request-too-large", 413, "RequestTooLarge"),
        new Provoked("rate-limited", 429, "RateLimited"),
        new Provoked("internal-error", 500, "InternalError"),
        new Provoked("unavailable", 503, "Unavailable"),
    };

    private interface Call {
        void make() throws ApiException;
    }

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        var client = client(KEY);
        var lending = new LendingApi(client);
        var payments = new PaymentsApi(client);
        createAndReplay(payments);
        acceptWithNulls(lending);

        var unknown = failure(404, () -> lending.acceptOffer(APPLICATION, UUID.randomUUID(), null));
        check(read(client, unknown, LendingError.class).getErrorCode().equals("OfferNotFound"), "404");
        var declined = failure(409, () -> lending.acceptOffer(APPLICATION, DECLINED, null));
        check(read(client, declined, LendingError.class).getErrorCode().equals("OfferDeclined"), "409");
        var bad = failure(400, () -> payments.createBuyer(new CreateBuyerRequest().countryCode("XX"), null));
        check(read(client, bad, PaymentsError.class).getErrors().get(0).startsWith("countryCode:"), "400");
        var stranger = new LendingApi(client("lendpay_wrong"));
        var refused = failure(401, () -> stranger.acceptOffer(APPLICATION, INDICATIVE, null));
        check(read(client, refused, LendingError.class).getErrorCode().equals("InvalidApiKey"), "401");
        everyOtherStatus(client);
        repeatAfterLostReplies(client);
        readme(System.getenv("LENDPAY_BASE"), KEY, APPLICATION, INDICATIVE);
        System.out.println("java: all answers as expected");
    }

    private static void readme(String base, String key, UUID applicationId, UUID offerId) throws ApiException {
        var client = new ApiClient().setRequestInterceptor(request -> request.header("X-Service-ApiKey", key));
        client.updateBaseUri(base);
        var offer = new LendingApi(client).acceptOffer(applicationId, offerId, null);
        var wanted = new CreateBuyerRequest().name("Northwind Bicycles Ltd");
        var buyer = new PaymentsApi(client).createBuyer(wanted, UUID.randomUUID().toString());
        System.out.println(offer.getStatus() + " " + buyer.getId());
    }

    private static void createAndReplay(PaymentsApi payments) throws ApiException {
        var account = new BankAccount().currencyCode("GBP").iban("GB33BUKB20201555555555");
        var wanted = new CreateBuyerRequest().name("Northwind Bicycles Ltd").countryCode("GB").type(BuyerType.COMPANY);
        wanted.setBankAccount(account);
        var key = UUID.randomUUID().toString();
        var created = payments.createBuyerWithHttpInfo(wanted, key);
        var buyer = created.getData();
        check(created.getStatusCode() == 201, "201");
        check(buyer.getName().equals("Northwind Bicycles Ltd") && buyer.getRegistrationNumber() == null, "the buyer");
        check(buyer.getType() == BuyerType.COMPANY, "the type");
        check(buyer.getBankAccount().getIban().equals("******************5555"), "the IBAN");
        check(buyer.getBankAccount().getBic() == null, "the BIC");

        var again = payments.createBuyerWithHttpInfo(wanted, key);
        check(again.getHeaders().toString().toLowerCase().contains("idempotency-replayed=[true]"), "the replay");
        check(again.getData().equals(buyer), "the replayed buyer");
    }

    private static void acceptWithNulls(LendingApi lending) throws ApiException {
        var offer = lending.acceptOffer(APPLICATION, INDICATIVE, null);
        check(offer.getStatus() == OfferStatus.CUSTOMER_ACCEPTED, "the status");
        check(offer.getOfferType() == OfferType.INDICATIVE, "the offer's type");
        check(offer.getAmount() == null && offer.getDuration() == null, "the nulls");
        check(offer.getRedirectUrl() != null && offer.getAnnualPercentageRate() == 0.0905, "the terms");
    }

    private static void everyOtherStatus(ApiClient client) throws Exception {
        for (var provoked : PROVOKED) {
            var asking = new LendingApi(client(KEY, provoked.asked()));
            var error = failure(provoked.status(), () -> asking.acceptOffer(APPLICATION, OFFER, null));
            check(read(client, error, LendingError.class).getErrorCode().equals(provoked.code()), provoked.code());
        }
        var stranger = new LendingApi(client("lendpay_sandbox_key_without_areas"));
        var refused = failure(403, () -> stranger.acceptOffer(APPLICATION, OFFER, null));
        check(read(client, refused, LendingError.class).getErrorCode().equals("InsufficientScope"), "403");
        failure(304, () -> new LendingApi(client).getOffer(APPLICATION, OFFER, "*"));
        var text = new PaymentsApi(client(KEY, "unsupported-media-type"));
        var unsupported = failure(415, () -> text.createBuyer(new CreateBuyerRequest(), null));
        check(!read(client, unsupported, PaymentsError.class).getTitle().isEmpty(), "415");
        var used = failure(422, () -> new PaymentsApi(client).createBuyer(new CreateBuyerRequest(), "sandbox-used"));
        check(!read(client, used, PaymentsError.class).getTitle().isEmpty(), "422");
    }

    private static void repeatAfterLostReplies(ApiClient client) throws ApiException {
        var losing = client(KEY, "lost-reply");
        lost(() -> new LendingApi(losing).acceptOffer(APPLICATION, OFFER, null));
        var offer = new LendingApi(client).acceptOffer(APPLICATION, OFFER, null);
        check(offer.getStatus() == OfferStatus.CUSTOMER_ACCEPTED, "the repeated accept");
        var happened = new EventsApi(client).listEvents(null, null, null, null).getItems().stream();
        var accepted = happened.filter(event -> event.getType().getValue().equals("offer.accepted"));
        check(accepted.filter(event -> OFFER.equals(event.getOfferId())).count() == 1, "one acceptance");

        var payments = new PaymentsApi(client);
        var wanted = new CreateBuyerRequest().name("Westwind Bicycles Ltd").registrationNumber("lost");
        var key = UUID.randomUUID().toString();
        lost(() -> new PaymentsApi(losing).createBuyer(wanted, key));
        var again = payments.createBuyerWithHttpInfo(wanted, key);
        check(again.getHeaders().toString().toLowerCase().contains("idempotency-replayed=[true]"), "the repeated buyer");
        check(payments.listBuyers("lost", null, null).getItems().size() == 1, "one buyer");
    }

    private static void lost(Call call) {
        try {
            call.make();
        } catch (ApiException error) {
            check(error.getCause() instanceof IOException, "a lost reply, not " + error);
            return;
        }
        throw new AssertionError("a reply that should be lost");
    }

    private static ApiClient client(String key) {
        var client = new ApiClient();
        client.updateBaseUri(System.getenv("LENDPAY_BASE"));
        client.setRequestInterceptor(request -> request.header("X-Service-ApiKey", key));
        return client;
    }

    private static ApiClient client(String key, String asked) {
        var client = client(key);
        client.setRequestInterceptor(request -> request.header("X-Service-ApiKey", key).header("X-Sandbox", asked));
        return client;
    }

    private static ApiException failure(int status, Call call) {
        try {
            call.make();
        } catch (ApiException error) {
            check(error.getCode() == status, "status " + status + ", not " + error.getCode());
            return error;
        }
        throw new AssertionError("no failure where " + status + " was due");
    }

    private static <T> T read(ApiClient client, ApiException error, Class<T> type) throws Exception {
        return client.getObjectMapper().readValue(error.getResponseBody(), type);
    }

    private static UUID id(String variable) {
        return UUID.fromString(System.getenv(variable));
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
