//! The webhooks in the documents. OpenAPI 3.0 has no `webhooks`: they are in `x-webhooks`, in the form of 3.1.

use super::examples::{APPLICATION, OFFER, moment};
use super::finish::{add_examples, capitalised};
use crate::webhook::WebhookPayload;
use crate::wire::partner_event;
use crate::wire::webhook::{BuyerWebhook, LenderWebhook, OfferWebhook, TestWebhook};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::offer::Status;
use lendpay_domain::query::Scope;
use lendpay_domain::webhook::Step;
use lendpay_domain::webhook::attempt::TEST;
use lendpay_domain::{ApplicationId, BuyerId, EndpointId, EventId, KeyId, OfferId, OperationId, PartnerId};
use poem::http::Method;
use poem_openapi::Webhook;
use poem_openapi::registry::{
    MetaMediaType, MetaOperation, MetaOperationParam, MetaParamIn, MetaRequest, MetaResponse, MetaResponses,
    MetaSchema, MetaSchemaRef, MetaWebhook, Registry,
};
use poem_openapi::types::Type;
use serde_json::{Map, Value, json};
use uuid::uuid;

/// The secret that signs the examples: `whsec_TGVuZHBheSBleGFtcGxlIHNlY3JldCwgMzIgYnl0ZXM=`.
const EXAMPLE_SECRET: &[u8] = b"Lendpay example secret, 32 bytes";

/// The endpoint of the examples.
pub(super) const ENDPOINT: EndpointId = EndpointId::new(uuid!("0195f2a8-6c1e-7d43-9b0a-1f2e3d4c5b6b"));

/// The headers of Standard Webhooks, and what they say.
const HEADERS: [(&str, &str); 3] = [
    ("webhook-id", "The identifier of the event. It is the same whenever the event is sent: skip what you have seen."),
    ("webhook-timestamp", "When this attempt was made, in seconds since 1970. Refuse what is older than 5 minutes."),
    (
        "webhook-signature",
        "`v1,` and the Base64 of an HMAC-SHA256 of id, timestamp and body, with full stops between them. Two of them with \
         a space between, for 24 hours after a secret was rotated.",
    ),
];

/// What partners get.
pub(super) struct ToPartners;

/// What the lender gets.
pub(super) struct ToLender;

impl Webhook for ToPartners {
    fn meta() -> Vec<MetaWebhook> {
        let schema = |name: &str| {
            if name.starts_with("buyer.") { BuyerWebhook::schema_ref() } else { OfferWebhook::schema_ref() }
        };
        let test = webhook(TEST, "Events", TestWebhook::schema_ref());
        partner_event::names().map(|name| webhook(name, "Events", schema(name))).chain([test]).collect()
    }

    fn register(registry: &mut Registry) {
        OfferWebhook::register(registry);
        BuyerWebhook::register(registry);
        TestWebhook::register(registry);
    }
}

impl Webhook for ToLender {
    fn meta() -> Vec<MetaWebhook> {
        let test = webhook(TEST, "Data", TestWebhook::schema_ref());
        let all = Subject::TYPES.into_iter().map(|name| webhook(name, "Data", LenderWebhook::schema_ref()));
        all.chain([test]).collect()
    }

    fn register(registry: &mut Registry) {
        LenderWebhook::register(registry);
        TestWebhook::register(registry);
    }
}

fn webhook(name: &'static str, tag: &'static str, schema: MetaSchemaRef) -> MetaWebhook {
    let header = |(name, description): (&str, &str)| MetaOperationParam {
        name: name.to_owned(),
        schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
        in_type: MetaParamIn::Header,
        description: Some(description.to_owned()),
        required: true,
        deprecated: false,
        explode: true,
        style: None,
    };
    let response = |status: Option<u16>, range: Option<&str>, description| MetaResponse {
        description,
        status,
        status_range: range.map(str::to_owned),
        content: Vec::new(),
        headers: Vec::new(),
    };
    let operation = MetaOperation {
        method: Method::POST,
        tags: vec![tag],
        summary: Some("Receive an event"),
        description: Some(
            "Sent to an endpoint that the operator has set up, at least once. Verify the signature first.",
        ),
        external_docs: None,
        params: HEADERS.into_iter().map(header).collect(),
        request: Some(MetaRequest {
            description: Some("The event."),
            content: vec![MetaMediaType { content_type: "application/json", schema }],
            required: true,
        }),
        responses: MetaResponses {
            responses: vec![
                response(None, Some("2XX"), "Received. Answer within 15 seconds, and work on it afterwards."),
                response(Some(410), None, "Disables the endpoint."),
                response(None, None, "Anything else, a redirect too: the event is sent again later."),
            ],
        },
        deprecated: false,
        security: Vec::new(),
        operation_id: None,
        code_samples: Vec::new(),
    };
    MetaWebhook { name, operation }
}

/// Moves what poem-openapi wrote to where 3.0 allows it, and adds names and examples, with the signatures that the
/// example's secret gives.
pub(super) fn finish(document: &mut Value, scope: Scope) {
    let Some(Value::Object(mut webhooks)) = document.as_object_mut().and_then(|all| all.shift_remove("webhooks"))
    else {
        return;
    };
    let (id, sent) = (EventId::new(uuid!("01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6e")), moment(1_653_653_745, 0));
    let of_events =
        subjects().filter_map(|subject| Some((subject.event_type(), WebhookPayload::of(&event(id, subject), scope)?)));
    for (name, payload) in of_events.chain([(TEST, WebhookPayload::test(ENDPOINT, id, sent))]) {
        let operation = &mut webhooks.get_mut(name).expect("the document has the types that are sent")["post"];
        let words: String = name.split(['.', '_']).map(capitalised).collect();
        operation["operationId"] = format!("{words}Webhook").into();
        operation["security"] = json!([]);
        let headers = payload.headers(sent, &[EXAMPLE_SECRET]);
        for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
            let (_, value) = headers.iter().find(|(name, _)| parameter["name"] == *name).expect("it has these headers");
            parameter["example"] = value.as_str().into();
        }
        let body = serde_json::from_str(&payload.body).expect("it is JSON");
        add_examples(&mut operation["requestBody"], [(format!("An event {name}"), body)].iter());
    }
    document["x-webhooks"] = webhooks.into();
}

/// The webhooks of a document for readers of OpenAPI 3.1, with the schemas that they refer to.
pub(super) fn for_readers_of_3_1(document: &Value) -> Value {
    let (webhooks, all) = (&document["x-webhooks"], &document["components"]["schemas"]);
    let mut schemas = Map::new();
    loop {
        let seen = format!("{webhooks}{}", json!(schemas));
        let more = all.as_object().into_iter().flatten().filter(|(name, _)| {
            !schemas.contains_key(*name) && seen.contains(&format!("\"#/components/schemas/{name}\""))
        });
        let more: Vec<_> = more.map(|(name, schema)| (name.clone(), schema.clone())).collect();
        if more.is_empty() {
            break;
        }
        schemas.extend(more);
    }
    let tags = document["tags"].as_array().into_iter().flatten().filter(|tag| tag["name"] == "Events");
    let tags: Vec<_> = tags.collect();
    let mut info = document["info"].clone();
    info["title"] = "Lendpay webhooks".into();
    info["description"] =
        "What is sent to endpoints of partners: `x-webhooks` of the partners' document, for OpenAPI 3.1.".into();
    json!({
        "openapi": "3.1.0", "info": info, "servers": document["servers"], "tags": tags, "webhooks": webhooks,
        "components": { "schemas": schemas },
    })
}

/// A subject of each type.
fn subjects() -> impl Iterator<Item = Subject> {
    let (application, offer) = (ApplicationId::new(APPLICATION), OfferId::new(OFFER));
    let key = KeyId::new(uuid!("01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d"));
    let of_offers = Status::ALL.iter().map(move |status| Subject::Offer { application, offer, status: *status });
    let steps = Step::ALL.into_iter().map(|step| Subject::Webhook(ENDPOINT, step));
    let buyer = BuyerId::new(uuid!("0195f2a8-6c1e-7d43-9b0a-1f2e3d4c5b6a"));
    let others = [
        Subject::Buyer(buyer),
        Subject::Terms { application, offer },
        Subject::PartnerCreated,
        Subject::PartnerUpdated,
        Subject::KeyCreated(key),
        Subject::KeyExpirySet(key),
        Subject::KeyRevoked(key),
        Subject::ApplicationCreated(application),
        Subject::BuyerRead(buyer),
    ];
    of_offers.chain(others).chain(steps)
}

fn event(id: EventId, subject: Subject) -> Event {
    Event {
        sequence: 41,
        id,
        occurred_at: moment(1_653_653_744, 50_386_800),
        partner: Some(PartnerId::new(uuid!("7c9e6679-7425-40de-944b-e07fc1f90ae7"))),
        subject,
        actor: Actor::Operator,
        operation: OperationId::from_bytes(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes()),
        replaced: None,
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::documents;
    use standardwebhooks::Webhook;

    #[test]
    fn every_type_is_described_and_the_signatures_of_the_examples_are_real() {
        let types: [Vec<&str>; 2] = [partner_event::names().collect(), Subject::TYPES.to_vec()];
        for (document, types) in documents().iter().zip(types) {
            let document: Value = serde_json::from_str(&document.text).expect("JSON");
            let webhooks = document["x-webhooks"].as_object().expect("the document has webhooks");
            assert_eq!(webhooks.keys().collect::<Vec<_>>(), [types, vec![TEST]].concat());
            for (name, item) in webhooks {
                let post = &item["post"];
                let header = |n: usize| post["parameters"][n]["example"].as_str().expect("an example");
                let media = &post["requestBody"]["content"]["application/json"];
                let (_, example) = media["examples"].as_object().and_then(|all| all.iter().next()).expect("an example");
                let body = example["value"].to_string();
                let key = Webhook::new("whsec_TGVuZHBheSBleGFtcGxlIHNlY3JldCwgMzIgYnl0ZXM=").expect("a secret");
                let signature = key.sign(header(0), header(1).parse().expect("a number"), body.as_bytes());
                assert_eq!(signature.expect("a signature"), header(2), "{name}");
            }
        }
    }

    #[test]
    fn the_guide_shows_the_documents_example() {
        let guide = include_str!("../../../../openapi/guides/webhooks.md");
        let document: Value = serde_json::from_str(&documents()[0].text).expect("JSON");
        let post = &document["x-webhooks"]["offer.accepted"]["post"];
        for parameter in post["parameters"].as_array().expect("headers") {
            let line = format!(
                "{}: {}\n",
                parameter["name"].as_str().expect("a name"),
                parameter["example"].as_str().expect("one")
            );
            assert!(guide.contains(&line), "{line}");
        }
        let media = &post["requestBody"]["content"]["application/json"]["examples"];
        let (_, example) = media.as_object().and_then(|all| all.iter().next()).expect("an example");
        assert!(guide.contains(&format!("\n{}\n", example["value"])), "{}", example["value"]);
    }
}
