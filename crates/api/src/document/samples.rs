//! Code that makes each call, in the languages that partners write: with what these languages bring along, and for Rust
//! with reqwest. The requests are those that succeed in a sandbox. `cargo xtask sdk test` runs all of it.

use crate::sandbox::{ORDINARY, Ordinary};
use serde_json::{Value, json};

/// Where the samples call a service that does not know its own address.
pub const BASE: &str = "https://lendpay.example";

/// The environment variable that the samples take the key from.
const KEY: &str = "LENDPAY_KEY";

/// What makes a creation repeatable: one for each buyer.
const IDEMPOTENCY_KEY: &str = "5f0c6f4e-9a53-4d5d-9d0c-3a1f6f1c2b7a";

/// The samples of an operation, for the member `x-codeSamples` of the document. None where there is no such operation.
pub(super) fn of(operation: &str, base: &str) -> Option<Value> {
    let call = Call::new(ORDINARY.iter().find(|ordinary| ordinary.operation == operation)?, base);
    let sample = |lang: &str, label: &str, source: String| json!({ "lang": lang, "label": label, "source": source });
    Some(json!([
        sample("Shell", "curl", call.curl()),
        sample("Python", "Python", call.python()),
        sample("Java", "Java", call.java()),
        sample("TypeScript", "TypeScript", call.typescript()),
        sample("Rust", "Rust", call.rust()),
        sample("Go", "Go", call.go()),
    ]))
}

/// A request.
struct Call {
    method: &'static str,
    url: String,
    /// Headers besides that with the key.
    headers: Vec<(&'static str, &'static str)>,
    body: &'static str,
}

impl Call {
    fn new(ordinary: &Ordinary, base: &str) -> Self {
        let path = ordinary
            .ids
            .iter()
            .fold(ordinary.path.to_owned(), |path, (name, id)| path.replace(&format!("{{{name}}}"), id));
        let headers = match ordinary.body {
            "" => Vec::new(),
            _ => vec![("Content-Type", "application/json"), ("Idempotency-Key", IDEMPOTENCY_KEY)],
        };
        Self { method: ordinary.method, url: format!("{base}{path}"), headers, body: ordinary.body }
    }

    /// A line for each header, and one for the body if there is one.
    fn lines(&self, header: impl Fn(&str, &str) -> String, body: impl Fn(&str) -> String) -> String {
        let headers = self.headers.iter().map(|(name, value)| header(name, value));
        headers.chain((!self.body.is_empty()).then(|| body(self.body))).collect()
    }

    fn curl(&self) -> String {
        let Self { method, url, .. } = self;
        let lines =
            self.lines(|name, value| format!(" \\\n  -H \"{name}: {value}\""), |body| format!(" \\\n  -d '{body}'"));
        format!("curl -X {method} {url} \\\n  -H \"X-Service-ApiKey: ${KEY}\"{lines}\n")
    }

    fn python(&self) -> String {
        let Self { method, url, body, .. } = self;
        let headers = self.lines(|name, value| format!("        \"{name}\": \"{value}\",\n"), |_| String::new());
        let data = if body.is_empty() { String::new() } else { format!("    data=b'{body}',\n") };
        format!(
            "import os\nimport urllib.request\n\n\
             request = urllib.request.Request(\n    \"{url}\",\n    method=\"{method}\",\n    headers={{\n        \
             \"X-Service-ApiKey\": os.environ[\"{KEY}\"],\n{headers}    }},\n{data})\n\
             with urllib.request.urlopen(request) as response:\n    print(response.status, response.read().decode())\n"
        )
    }

    fn java(&self) -> String {
        let Self { method, url, body, .. } = self;
        let headers =
            self.lines(|name, value| format!("            .header(\"{name}\", \"{value}\")\n"), |_| String::new());
        let body = match *body {
            "" => "noBody()".to_owned(),
            body => format!("ofString({})", quoted(body)),
        };
        format!(
            "import java.net.URI;\nimport java.net.http.HttpClient;\nimport java.net.http.HttpRequest;\n\
             import java.net.http.HttpResponse;\n\n\
             class Sample {{\n    public static void main(String[] arguments) throws Exception {{\n        \
             var request = HttpRequest.newBuilder(URI.create(\"{url}\"))\n            \
             .header(\"X-Service-ApiKey\", System.getenv(\"{KEY}\"))\n{headers}            \
             .method(\"{method}\", HttpRequest.BodyPublishers.{body})\n            .build();\n        \
             var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());\n        \
             System.out.println(response.statusCode() + \" \" + response.body());\n    }}\n}}\n"
        )
    }

    fn typescript(&self) -> String {
        let Self { method, url, .. } = self;
        let headers = self.lines(|name, value| format!("    \"{name}\": \"{value}\",\n"), |_| String::new());
        let body = match self.body {
            "" => String::new(),
            body => format!("  body: JSON.stringify({body}),\n"),
        };
        format!(
            "const response = await fetch(\"{url}\", {{\n  method: \"{method}\",\n  headers: {{\n    \
             \"X-Service-ApiKey\": process.env[\"{KEY}\"] ?? \"\",\n{headers}  }},\n{body}}});\n\
             console.log(response.status, await response.json());\n"
        )
    }

    fn rust(&self) -> String {
        let Self { method, url, .. } = self;
        let lines = self.lines(
            |name, value| format!("        .header(\"{name}\", \"{value}\")\n"),
            |body| format!("        .body(r#\"{body}\"#)\n"),
        );
        format!(
            "#[tokio::main(flavor = \"current_thread\")]\n\
             async fn main() -> Result<(), Box<dyn std::error::Error>> {{\n    \
             let response = reqwest::Client::new()\n        .request(reqwest::Method::{method}, \"{url}\")\n        \
             .header(\"X-Service-ApiKey\", std::env::var(\"{KEY}\")?)\n{lines}        .send()\n        .await?;\n    \
             println!(\"{{}} {{}}\", response.status(), response.text().await?);\n    Ok(())\n}}\n"
        )
    }

    fn go(&self) -> String {
        let Self { method, url, body, .. } = self;
        let headers =
            self.lines(|name, value| format!("\trequest.Header.Set(\"{name}\", \"{value}\")\n"), |_| String::new());
        let (import, body) = match *body {
            "" => ("", "nil".to_owned()),
            body => ("\t\"strings\"\n", format!("strings.NewReader(`{body}`)")),
        };
        format!(
            "package main\n\nimport (\n\t\"fmt\"\n\t\"io\"\n\t\"net/http\"\n\t\"os\"\n{import})\n\n\
             func main() {{\n\trequest, err := http.NewRequest(\"{method}\", \"{url}\", {body})\n\
             \tif err != nil {{\n\t\tpanic(err)\n\t}}\n\
             \trequest.Header.Set(\"X-Service-ApiKey\", os.Getenv(\"{KEY}\"))\n{headers}\
             \tresponse, err := http.DefaultClient.Do(request)\n\tif err != nil {{\n\t\tpanic(err)\n\t}}\n\
             \tdefer response.Body.Close()\n\tanswer, err := io.ReadAll(response.Body)\n\
             \tif err != nil {{\n\t\tpanic(err)\n\t}}\n\tfmt.Println(response.StatusCode, string(answer))\n}}\n"
        )
    }
}

/// A text as Java writes it.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_has_a_sample_in_each_language() {
        for ordinary in &ORDINARY {
            let samples = of(ordinary.operation, BASE).expect("it is ordinary");
            let samples = samples.as_array().expect("a list");
            assert_eq!(samples.len(), 6);
            for sample in samples {
                let source = sample["source"].as_str().expect("a text");
                assert!(
                    source.contains(BASE)
                        && source.contains(KEY)
                        && !source.contains('{'.to_string().repeat(3).as_str())
                );
                assert_eq!(source.contains(IDEMPOTENCY_KEY), !ordinary.body.is_empty(), "{source}");
            }
        }
        assert!(of("Unknown", BASE).is_none());
    }
}
