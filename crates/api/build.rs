//! Renders the texts of the pages: Markdown becomes HTML when the crate is built.
//!
//! Partners get what is in `openapi/guides`, operators the guide to operations and parts of the project's README, both
//! their part of the changelog.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Languages of samples: as a code block names them, and as readers do. Samples that follow each other are shown as
/// one, in the language that the reader chooses.
const SAMPLES: [(&str, &str); 6] = [
    ("sh", "curl"),
    ("python", "Python"),
    ("typescript", "TypeScript"),
    ("java", "Java"),
    ("go", "Go"),
    ("rust", "Rust"),
];

/// Files that are pages of the operator's side, as links in others name them.
const OPERATOR_PAGES: [(&str, &str); 2] =
    [("operations/README.md", "/operator/guides/runbook"), ("README.md", "/operator/guides/run")];

/// A text as a page.
struct Text {
    name: String,
    title: String,
    html: String,
}

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
        fs::read_to_string(root.join(path))
    };
    let (changelog, readme) = (read("openapi/CHANGELOG.md")?, read("README.md")?);
    let (operations, start) = (read("crates/server/operations/README.md")?, read("crates/server/operations/start.md")?);
    let mut partner = guides(&root.join("openapi/guides"))?;
    partner.push(text("changelog", &changelog_of(&changelog, "partner.json")));
    let operator = [
        text("index", &start),
        text("runbook", &operations),
        text("run", &section(&readme, "Run it for real")),
        text("oauth", &section(&readme, "Accept OAuth 2.0 tokens")),
        text("changelog", &changelog_of(&changelog, "operator.json")),
    ];
    let list = |name: &str, texts: &[Text]| {
        let line = |Text { name, title, html }: &Text| {
            format!("    Text {{ name: {name:?}, title: {title:?}, html: {html:?} }},\n")
        };
        format!("static {name}: [Text; {}] = [\n{}];\n", texts.len(), texts.iter().map(line).collect::<String>())
    };
    #[expect(clippy::disallowed_methods, reason = "Cargo says so where a build script may write")]
    let to = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it")).join("texts.rs");
    fs::write(to, list("PARTNER", &partner) + &list("OPERATOR", &operator))
}

/// Every Markdown file of a folder, in the order of their names.
fn guides(folder: &Path) -> io::Result<Vec<Text>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    let mut paths: Vec<_> = paths.into_iter().filter(|path| path.extension().is_some_and(|is| is == "md")).collect();
    paths.sort();
    let guide = |path: PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.file_stem().expect("a file that a folder lists has a name").to_string_lossy().into_owned();
        fs::read_to_string(&path).map(|markdown| text(&name, &markdown))
    };
    paths.into_iter().map(guide).collect()
}

/// A section of a document as a document: its headings move up by one level.
fn section(document: &str, title: &str) -> String {
    let (_, rest) = document.split_once(&format!("\n## {title}\n")).expect("the document has this section");
    let rest = rest.split_once("\n## ").map_or(rest, |(section, _)| section);
    let line = |line: &str| if line.starts_with("##") { line[1..].to_owned() } else { line.to_owned() };
    format!("# {title}\n{}", rest.lines().map(line).collect::<Vec<_>>().join("\n"))
}

/// What the changelog says of all documents, and of one.
fn changelog_of(changelog: &str, document: &str) -> String {
    let (general, _) = changelog.split_once("\n## ").expect("the changelog has a section for each document");
    let (_, own) = changelog.split_once(&format!("\n## {document}\n")).expect("the changelog has this document");
    let own = own.split_once("\n## ").map_or(own, |(own, _)| own);
    let own = own.lines().map(|line| line.strip_prefix('#').filter(|_| line.starts_with("###")).unwrap_or(line));
    format!("{general}\n{}", own.collect::<Vec<_>>().join("\n"))
}

fn text(name: &str, markdown: &str) -> Text {
    let events: Vec<_> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let title = events.iter().position(|event| matches!(event, Event::Start(Tag::Heading { .. })));
    let title = plain(&events[title.expect("a text begins with its title")..]);
    let mut html = String::new();
    html::push_html(&mut html, finished(&events).into_iter());
    Text { name: name.to_owned(), title, html }
}

/// What a heading says: the texts up to its end.
fn plain(events: &[Event<'_>]) -> String {
    let words = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    words
        .filter_map(|event| if let Event::Text(text) | Event::Code(text) = event { Some(&**text) } else { None })
        .collect()
}

/// Adds what Markdown cannot say: addresses of headings, and boxes that scroll around what can be wide.
fn finished<'a>(events: &[Event<'a>]) -> Vec<Event<'a>> {
    let mut done = Vec::new();
    let mut samples = false;
    let mut kept_links = Vec::new();
    let raw = |html: String| Event::Html(CowStr::from(html));
    for (n, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                done.push(raw(format!("<{level} id=\"{}\">", slug(&plain(&events[n..])))));
            }
            Event::Start(Tag::Table(_)) => {
                done.extend([raw("<div class=\"scroll\" tabindex=\"0\">".to_owned()), event.clone()]);
            }
            Event::End(TagEnd::Table) => done.extend([event.clone(), raw("</div>".to_owned())]),
            Event::Start(Tag::CodeBlock(kind)) => {
                let (language, follows) =
                    (sample(kind), matches!(events.get(n.wrapping_sub(1)), Some(Event::End(TagEnd::CodeBlock))));
                if let Some(name) = language {
                    let begin = if samples && follows { "" } else { "<div class=\"samples\">" };
                    done.push(raw(format!("{begin}<figure><figcaption>{name}</figcaption>")));
                }
                samples = language.is_some();
                done.push(raw("<pre tabindex=\"0\"><code>".to_owned()));
            }
            Event::End(TagEnd::CodeBlock) => {
                done.push(raw("</code></pre>".to_owned()));
                if samples {
                    let goes_on =
                        matches!(events.get(n + 1), Some(Event::Start(Tag::CodeBlock(kind))) if sample(kind).is_some());
                    done.push(raw(if goes_on { "</figure>" } else { "</figure></div>" }.to_owned()));
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let to = resolved(dest_url);
                kept_links.push(to.is_some());
                done.extend(to.map(|to| raw(format!("<a href=\"{to}\">"))));
            }
            Event::End(TagEnd::Link) => {
                let kept = kept_links.pop().expect("a link that ends has begun");
                done.extend(kept.then(|| event.clone()));
            }
            other => done.push(other.clone()),
        }
    }
    done
}

/// The language of a code block that is a sample.
fn sample(kind: &CodeBlockKind<'_>) -> Option<&'static str> {
    let CodeBlockKind::Fenced(info) = kind else { return None };
    let language = info.split(' ').next().expect("a split has a first part");
    SAMPLES.iter().find(|(tag, _)| *tag == language).map(|(_, name)| *name)
}

/// Where a link leads from a page. None for a file of the project that is no page.
fn resolved(to: &str) -> Option<String> {
    if to.starts_with(['#', '/']) || to.starts_with("https://") || to.starts_with("http://") {
        return Some(to.to_owned());
    }
    let (file, fragment) = to.split_once('#').map_or((to, String::new()), |(file, id)| (file, format!("#{id}")));
    let page = OPERATOR_PAGES.iter().find(|(known, _)| file.ends_with(known));
    page.map(|(_, page)| format!("{page}{fragment}"))
}

/// The address of a heading, as GitHub makes it, so that links work there too.
fn slug(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}
