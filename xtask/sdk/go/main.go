// The generated Go client against the running service: every kind of answer, read through its types.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"lendpay.example/program/lendpay"
)

// What the sandbox is asked for, and what AcceptOffer answers then.
var provoked = []struct {
	asked  string
	status int
	code   string
}{
	{"bad-request", 400, "BadRequest"},
	{"timeout", 408, "Timeout"},
	{"request-too-large", 413, "RequestTooLarge"},
	{"rate-limited", 429, "RateLimited"},
	{"internal-error", 500, "InternalError"},
	{"unavailable", 503, "Unavailable"},
}

var (
	ctx         = context.Background()
	key         = os.Getenv("LENDPAY_KEY")
	application = os.Getenv("LENDPAY_APPLICATION")
	offer       = os.Getenv("LENDPAY_OFFER")
	indicative  = os.Getenv("LENDPAY_INDICATIVE")
	declined    = os.Getenv("LENDPAY_DECLINED")
)

func client(key string, asked string) *lendpay.APIClient {
	configuration := lendpay.NewConfiguration()
	configuration.Servers = lendpay.ServerConfigurations{{URL: os.Getenv("LENDPAY_BASE")}}
	configuration.AddDefaultHeader("X-Service-ApiKey", key)
	if asked != "" {
		configuration.AddDefaultHeader("X-Sandbox", asked)
	}
	return lendpay.NewAPIClient(configuration)
}

func check(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func newUUID() string {
	var b [16]byte
	_, err := rand.Read(b[:])
	must(err)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func createAndReplay(api *lendpay.APIClient) {
	account := lendpay.NewBankAccount()
	account.SetCurrencyCode("GBP")
	account.SetIban("GB33BUKB20201555555555")
	wanted := lendpay.NewCreateBuyerRequest()
	wanted.SetName("Northwind Bicycles Ltd")
	wanted.SetCountryCode("GB")
	wanted.SetType(lendpay.BUYERTYPE_COMPANY)
	wanted.SetBankAccount(*account)
	id := newUUID()
	buyer, response, err := api.PaymentsAPI.CreateBuyer(ctx).IdempotencyKey(id).CreateBuyerRequest(*wanted).Execute()
	must(err)
	check(response.StatusCode == 201, "201")
	check(buyer.GetName() == "Northwind Bicycles Ltd" && !isSet(buyer.GetRegistrationNumberOk()), "the buyer")
	check(buyer.GetType() == lendpay.BUYERTYPE_COMPANY, "the type")
	shown := buyer.GetBankAccount()
	check(shown.GetIban() == "******************5555" && !isSet(shown.GetBicOk()), "the account")
	check(response.Header.Get("Location") == "/payments/buyers/"+buyer.Id, "the location")

	again, response, err := api.PaymentsAPI.CreateBuyer(ctx).IdempotencyKey(id).CreateBuyerRequest(*wanted).Execute()
	must(err)
	check(response.Header.Get("Idempotency-Replayed") == "true" && again.Id == buyer.Id, "the replay")

	empty, _, err := api.PaymentsAPI.CreateBuyer(ctx).CreateBuyerRequest(*lendpay.NewCreateBuyerRequest()).Execute()
	must(err)
	check(!isSet(empty.GetTypeOk()) && !isSet(empty.GetBankAccountOk()), "the nulls of a buyer")
}

// Whether a nullable value is there.
func isSet[T any](value *T, _ bool) bool {
	return value != nil
}

func acceptWithNulls(api *lendpay.APIClient) {
	accepted, _, err := api.LendingAPI.AcceptOffer(ctx, application, indicative).Execute()
	must(err)
	check(accepted.Status == lendpay.OFFERSTATUS_CUSTOMER_ACCEPTED, "the status")
	check(accepted.OfferType == lendpay.OFFERTYPE_INDICATIVE, "the offer's type")
	check(!isSet(accepted.GetAmountOk()) && !isSet(accepted.GetDurationOk()), "the nulls")
	check(isSet(accepted.GetRedirectUrlOk()) && accepted.AnnualPercentageRate == 0.0905, "the terms")
}

// The typed body of a failure.
func failure[E any](status int, response *http.Response, err error) E {
	check(response != nil && response.StatusCode == status, fmt.Sprint("no ", status))
	var failed *lendpay.GenericOpenAPIError
	check(errors.As(err, &failed), "no failure of the service")
	body, typed := failed.Model().(E)
	check(typed, fmt.Sprint("no typed body of ", status))
	return body
}

func refused(api *lendpay.APIClient, offer string, status int, code string) {
	_, response, err := api.LendingAPI.AcceptOffer(ctx, application, offer).Execute()
	body := failure[lendpay.LendingError](status, response, err)
	check(body.ErrorCode == code, code)
}

func failures(api *lendpay.APIClient) {
	refused(api, newUUID(), 404, "OfferNotFound")
	refused(api, declined, 409, "OfferDeclined")
	refused(client("lendpay_wrong", ""), indicative, 401, "InvalidApiKey")
	refused(client("lendpay_sandbox_key_without_areas", ""), offer, 403, "InsufficientScope")
	for _, one := range provoked {
		refused(client(key, one.asked), offer, one.status, one.code)
	}
	_, response, _ := api.LendingAPI.GetOffer(ctx, application, offer).IfNoneMatch("*").Execute()
	check(response.StatusCode == 304, "304")

	nowhere := lendpay.NewCreateBuyerRequest()
	nowhere.SetCountryCode("XX")
	_, response, err := api.PaymentsAPI.CreateBuyer(ctx).CreateBuyerRequest(*nowhere).Execute()
	bad := failure[lendpay.PaymentsError](400, response, err)
	check(strings.HasPrefix(bad.Errors[0], "countryCode:"), "400")
	empty := *lendpay.NewCreateBuyerRequest()
	_, response, err = client(key, "unsupported-media-type").PaymentsAPI.CreateBuyer(ctx).CreateBuyerRequest(empty).Execute()
	check(failure[lendpay.PaymentsError](415, response, err).Title != "", "415")
	_, response, err = api.PaymentsAPI.CreateBuyer(ctx).IdempotencyKey("sandbox-used").CreateBuyerRequest(empty).Execute()
	check(failure[lendpay.PaymentsError](422, response, err).Title != "", "422")
}

func repeatAfterLostReplies(api *lendpay.APIClient) {
	losing := client(key, "lost-reply")
	_, response, err := losing.LendingAPI.AcceptOffer(ctx, application, offer).Execute()
	check(err != nil && response == nil, "a reply that should be lost")
	accepted, _, err := api.LendingAPI.AcceptOffer(ctx, application, offer).Execute()
	must(err)
	check(accepted.Status == lendpay.OFFERSTATUS_CUSTOMER_ACCEPTED, "the repeated accept")
	events, _, err := api.EventsAPI.ListEvents(ctx).Execute()
	must(err)
	count := 0
	for _, event := range events.Items {
		if event.Type == lendpay.EVENTTYPE_OFFER_ACCEPTED && event.GetOfferId() == offer {
			count++
		}
	}
	check(count == 1, "one acceptance")

	wanted := lendpay.NewCreateBuyerRequest()
	wanted.SetName("Westwind Bicycles Ltd")
	wanted.SetRegistrationNumber("lost")
	id := newUUID()
	_, response, err = losing.PaymentsAPI.CreateBuyer(ctx).IdempotencyKey(id).CreateBuyerRequest(*wanted).Execute()
	check(err != nil && response == nil, "a reply that should be lost")
	_, response, err = api.PaymentsAPI.CreateBuyer(ctx).IdempotencyKey(id).CreateBuyerRequest(*wanted).Execute()
	must(err)
	check(response.Header.Get("Idempotency-Replayed") == "true", "the repeated buyer")
	buyers, _, err := api.PaymentsAPI.ListBuyers(ctx).RegistrationNumber("lost").Execute()
	must(err)
	check(len(buyers.Items) == 1, "one buyer")
}

func main() {
	api := client(key, "")
	createAndReplay(api)
	acceptWithNulls(api)
	failures(api)
	repeatAfterLostReplies(api)
	fmt.Println("go: all answers as expected")
}
