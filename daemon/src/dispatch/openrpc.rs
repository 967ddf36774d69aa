//! The OpenRPC document, written from the method list.

use paird_protocol::methods::METHODS;
use paird_protocol::{ErrorKind, Event};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

pub(super) fn document(version: &str) -> Value {
    let settings = SchemaSettings::draft07().with(|s| s.definitions_path = "/components/schemas".into());
    let mut generator = SchemaGenerator::new(settings);
    let methods: Vec<Value> = METHODS
        .iter()
        .map(|method| {
            json!({
                "name": method.name,
                "summary": method.doc.trim(),
                "paramStructure": "by-name",
                "params": [{"name": "params", "required": false, "schema": (method.params)(&mut generator)}],
                "result": {"name": "result", "schema": (method.result)(&mut generator)},
                "x-long": method.long,
            })
        })
        .collect();
    let event = generator.subschema_for::<Event>();
    let errors: Vec<Value> = ErrorKind::ALL.iter().map(|kind| json!({"kind": kind.as_str(), "code": kind.code()})).collect();
    json!({
        "openrpc": "1.3.2",
        "info": {"title": "paird", "version": version},
        "methods": methods,
        "x-notifications": [{"name": paird_protocol::EVENT_METHOD, "params": event}],
        "x-errors": errors,
        "components": {"schemas": generator.take_definitions(true)},
    })
}
