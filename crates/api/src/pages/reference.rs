//! The reference: the document as a page for reading. Descriptions are Markdown (OpenAPI 3.0.3, section "Rich Text
//! Formatting"); everything else is escaped.

use super::site::{self, escape, table};
use crate::side::Side;
use pulldown_cmark::{Options, Parser, html};
use serde_json::Value;

/// What of a schema bounds its values, and how that is said.
const BOUNDS: [(&str, &str, &str); 6] = [
    ("minimum", "at least", ""),
    ("maximum", "at most", ""),
    ("minLength", "at least", " characters"),
    ("maxLength", "at most", " characters"),
    ("minItems", "at least", " items"),
    ("maxItems", "at most", " items"),
];

/// The address of a side's.
pub(super) fn path(side: Side) -> String {
    format!("{}/reference", side.pages())
}

/// The page.
pub(super) fn page(side: Side, document: &Value) -> String {
    site::page(side, &path(side), "Reference", &html(document))
}

fn html<'d>(document: &'d Value) -> String {
    let reference = Reference(document);
    let info = &document["info"];
    let operations =
        || members(&document["paths"]).flat_map(|(path, item)| members(item).map(move |(m, o)| (path, m, o)));
    let mut body = format!(
        "<h1>Reference</h1>\n<p class=\"dim\">{}, version {}</p>\n{}",
        text(&info["title"]),
        text(&info["version"]),
        markdown(&info["description"])
    );
    let tagged = |tag: &'d Value| operations().filter(move |(.., o)| list(&o["tags"]).contains(&tag["name"]));
    for tag in list(&document["tags"]) {
        let links = tagged(tag).map(|(.., o)| format!("<a href=\"#{0}\">{0}</a>", text(&o["operationId"])));
        body += &format!("<p>{}: {}</p>\n", text(&tag["name"]), links.collect::<Vec<_>>().join(", "));
    }
    for tag in list(&document["tags"]) {
        body += &format!("<h2 id=\"{0}\">{0}</h2>\n{1}", text(&tag["name"]), markdown(&tag["description"]));
        for (path, method, operation) in tagged(tag) {
            body += &reference.operation(path, method, operation);
        }
    }
    body += "<h2 id=\"schemas\">Schemas</h2>\n";
    for (name, schema) in members(&document["components"]["schemas"]) {
        body += &reference.schema(name, schema);
    }
    body
}

/// A document, whose parts may refer to each other.
struct Reference<'d>(&'d Value);

impl<'d> Reference<'d> {
    /// The value itself, or what it refers to.
    fn resolved(&self, value: &'d Value) -> &'d Value {
        let to = value["$ref"].as_str().and_then(|to| to.strip_prefix('#'));
        to.map_or(value, |to| self.0.pointer(to).expect("a reference leads to a part of the document"))
    }

    fn operation(&self, path: &str, method: &str, operation: &'d Value) -> String {
        let (id, method) = (text(&operation["operationId"]), method.to_uppercase());
        let mut html = format!(
            "<section>\n<h3 id=\"{id}\">{}</h3>\n<p><span class=\"method\">{method}</span> <code>{}</code> \
             <span class=\"dim\">{id}</span></p>\n{}",
            text(&operation["summary"]),
            escape(path),
            markdown(&operation["description"])
        );
        html += &needs(operation);
        let parameters: Vec<_> = list(&operation["parameters"]).iter().map(|each| self.parameter(each)).collect();
        if !parameters.is_empty() {
            html += &format!("<h4>Parameters</h4>\n{}", table(["Name", "In", "Type", "Meaning"], &parameters));
        }
        let request = self.resolved(&operation["requestBody"]);
        if !request.is_null() {
            let kind = self.content(request).unwrap_or_default();
            html += &format!(
                "<h4>Body</h4>\n{}<p>{kind}</p>\n{}",
                markdown(&request["description"]),
                self.examples(request)
            );
        }
        let responses: Vec<_> =
            members(&operation["responses"]).map(|(status, r)| (status, self.resolved(r))).collect();
        let rows: Vec<_> = responses.iter().map(|(status, response)| self.response(status, response)).collect();
        html += &format!("<h4>Answers</h4>\n{}", table(["Status", "Meaning", "Headers"], &rows));
        for (status, response) in responses {
            let examples = self.examples(response);
            if !examples.is_empty() {
                html += &format!("<details><summary>Examples of {status}</summary>\n{examples}</details>\n");
            }
        }
        html += &samples(&operation["x-codeSamples"]);
        html + "</section>\n"
    }

    fn parameter(&self, parameter: &'d Value) -> [String; 4] {
        let parameter = self.resolved(parameter);
        let required = if parameter["required"] == true { " (required)" } else { "" };
        [
            format!("<code>{}</code>{required}", text(&parameter["name"])),
            text(&parameter["in"]),
            self.kind(&parameter["schema"]),
            markdown(&parameter["description"]),
        ]
    }

    fn response(&self, status: &str, response: &'d Value) -> [String; 3] {
        let kind = self.content(response).map(|kind| format!("<p>{kind}</p>")).unwrap_or_default();
        let headers = members(&response["headers"]).map(|(name, _)| format!("<code>{}</code>", escape(name)));
        let meaning = format!("{}{kind}", markdown(&response["description"]));
        [escape(status), meaning, headers.collect::<Vec<_>>().join(", ")]
    }

    /// The media type and the schema of a body.
    fn content(&self, body: &'d Value) -> Option<String> {
        let (media, content) = members(&body["content"]).next()?;
        Some(format!("<code>{}</code>: {}", escape(media), self.kind(&content["schema"])))
    }

    fn examples(&self, body: &'d Value) -> String {
        let content = members(&body["content"]).map(|(_, content)| content);
        let examples = content.flat_map(|content| members(&content["examples"]));
        let example = |(name, example): (&String, &'d Value)| {
            let example = self.resolved(example);
            let title = example["summary"].as_str().unwrap_or(name);
            let value = match &example["value"] {
                Value::String(text) => text.clone(),
                value => format!("{value:#}"),
            };
            format!(
                "<p class=\"dim\">{}</p>\n<pre tabindex=\"0\"><code>{}</code></pre>\n",
                escape(title),
                escape(value)
            )
        };
        examples.map(example).collect()
    }

    fn schema(&self, name: &str, schema: &'d Value) -> String {
        let mut html = format!("<h3 id=\"schema-{name}\">{name}</h3>\n{}", markdown(&schema["description"]));
        if schema["properties"].is_null() {
            return html + &format!("<p>{}</p>\n", self.kind(schema));
        }
        let required = list(&schema["required"]);
        let row = |(name, property): (&String, &'d Value)| {
            let always = if required.iter().any(|required| required == name) { " (required)" } else { "" };
            let name = format!("<code>{}</code>{always}", escape(name));
            [name, self.kind(property), markdown(&property["description"])]
        };
        let rows: Vec<_> = members(&schema["properties"]).map(row).collect();
        html += &table(["Member", "Type", "Meaning"], &rows);
        html
    }

    /// What values a schema has, in words.
    fn kind(&self, schema: &'d Value) -> String {
        let all = ["allOf", "oneOf", "anyOf"].into_iter().flat_map(|key| list(&schema[key]));
        let parts: Vec<_> = all.map(|part| self.kind(part)).filter(|part| !part.is_empty()).collect();
        let mut kind = match schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
            Some(name) => format!("<a href=\"#schema-{name}\">{name}</a>"),
            None if !parts.is_empty() => parts.join(" or "),
            None if schema["type"] == "array" => format!("array of {}", self.kind(&schema["items"])),
            None => text(&schema["type"]),
        };
        if let Some(format) = schema["format"].as_str() {
            kind += &format!(" ({})", escape(format));
        }
        let values = list(&schema["enum"]).iter().filter(|value| !value.is_null());
        let values: Vec<_> = values.map(|value| format!("<code>{}</code>", text(value))).collect();
        if !values.is_empty() {
            kind += &format!(": {}", values.join(", "));
        }
        for (bound, words, unit) in BOUNDS.into_iter().filter(|(bound, ..)| !schema[*bound].is_null()) {
            kind += &format!(", {words} {}{unit}", text(&schema[bound]));
        }
        if let Some(pattern) = schema["pattern"].as_str() {
            kind += &format!(", matching <code>{}</code>", escape(pattern));
        }
        if !schema["default"].is_null() {
            kind += &format!(", <code>{}</code> if absent", text(&schema["default"]));
        }
        if schema["nullable"] == true {
            kind += ", or null";
        }
        kind
    }
}

/// Who may call an operation.
fn needs(operation: &Value) -> String {
    let alternatives = list(&operation["security"]).iter().flat_map(members);
    let form = |(name, scopes): (&String, &Value)| match list(scopes) {
        [] => format!("<code>{}</code>", escape(name)),
        scopes => {
            let scopes: Vec<_> = scopes.iter().map(|scope| format!("<code>{}</code>", text(scope))).collect();
            format!("<code>{}</code> with the scope {}", escape(name), scopes.join(", "))
        }
    };
    let forms: Vec<_> = alternatives.map(form).collect();
    if forms.is_empty() { String::new() } else { format!("<p>Authentication: {}</p>\n", forms.join(", or ")) }
}

/// Code that makes the call, in several languages: the extension that Redoc and others read.
fn samples(samples: &Value) -> String {
    let sample = |sample: &Value| {
        let label = sample["label"].as_str().or(sample["lang"].as_str()).unwrap_or_default();
        let source = text(&sample["source"]);
        format!(
            "<figure><figcaption>{}</figcaption><pre tabindex=\"0\"><code>{source}</code></pre></figure>",
            escape(label)
        )
    };
    let samples: String = list(samples).iter().map(sample).collect();
    if samples.is_empty() { samples } else { format!("<h4>Code</h4>\n<div class=\"samples\">{samples}</div>\n") }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A text without its quotes, anything else as JSON, nothing for what is absent.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => escape(text),
        // poem-openapi keeps bounds as floats.
        Value::Number(number) => {
            number.as_f64().filter(|_| number.is_f64()).map_or(number.to_string(), |n| n.to_string())
        }
        other => escape(other),
    }
}

fn markdown(text: &Value) -> String {
    let mut out = String::new();
    html::push_html(&mut out, Parser::new_ext(text.as_str().unwrap_or_default(), Options::ENABLE_TABLES));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_followed_and_samples_are_shown() {
        let operation = json!({
            "operationId": "GetThing", "summary": "Read a <thing>", "description": "See `thing`.", "tags": ["Things"],
            "security": [{ "ApiKey": [] }, { "OAuth2": ["things.read"] }],
            "parameters": [{ "$ref": "#/components/parameters/limit" }],
            "responses": { "200": { "$ref": "#/components/responses/Thing" } },
            "x-codeSamples": [{ "lang": "Shell", "label": "curl", "source": "curl <here>" }],
        });
        let duration = json!({ "allOf": [{ "$ref": "#/components/schemas/Duration" }], "nullable": true });
        let document = json!({
            "info": { "title": "T", "version": "1.0.0" }, "tags": [{ "name": "Things" }],
            "paths": { "/things/{id}": { "get": operation } },
            "components": {
                "parameters": { "limit": { "name": "limit", "in": "query", "schema": { "type": "integer", "maximum": 500 } } },
                "responses": { "Thing": {
                    "description": "It.",
                    "content": { "application/json": {
                        "schema": { "$ref": "#/components/schemas/Thing" },
                        "examples": { "One": { "$ref": "#/components/examples/One" } },
                    } },
                } },
                "examples": { "One": { "summary": "One thing", "value": { "a": 1 } } },
                "schemas": {
                    "Thing": { "required": ["a"], "properties": { "a": duration } },
                    "Duration": { "type": "string", "enum": ["Year"] },
                },
            },
        });
        let html = html(&document);
        for part in [
            "<h3 id=\"GetThing\">Read a &lt;thing&gt;</h3>",
            "<code>ApiKey</code>, or <code>OAuth2</code> with the scope <code>things.read</code>",
            "integer, at most 500",
            "<code>application/json</code>: <a href=\"#schema-Thing\">Thing</a>",
            "One thing</p>\n<pre tabindex=\"0\"><code>{\n  &quot;a&quot;: 1\n}",
            "<code>a</code> (required)</td><td><a href=\"#schema-Duration\">Duration</a>, or null",
            "string: <code>Year</code>",
            "<figcaption>curl</figcaption><pre tabindex=\"0\"><code>curl &lt;here&gt;",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
