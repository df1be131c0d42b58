//! The partners' client, made from the document when it is compiled.

progenitor::generate_api!(spec = "partner.json");
