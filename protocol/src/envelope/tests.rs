use super::*;

fn one(text: &str) -> Result<(Option<String>, String, Option<String>), String> {
    match parse(text.as_bytes(), Some(3)) {
        Ok(Parsed::One(Message::Call(call))) => {
            Ok((call.id.map(|id| id.get().to_owned()), call.method, call.params.map(|params| params.get().to_owned())))
        }
        Ok(other) => Err(format!("{other:?}")),
        Err(refusal) => Err(format!("{} {}", refusal.id.as_deref().unwrap_or("null"), refusal.error.code)),
    }
}

#[test]
fn ids_stay_as_they_were_written() {
    for id in ["1", "-0", "1.50", "1e400", "123456789012345678901234567890", "\"a\\u0041\"", "\"\"", "null"] {
        let text = format!(r#" {{"id": {id} ,"method":"m","jsonrpc":"2.0","extra":[]}}"#);
        assert_eq!(one(&text), Ok((Some(id.to_owned()), "m".to_owned(), None)), "{id}");
    }
    assert_eq!(one(r#"{"jsonrpc":"2.0","method":"a\/b"}"#), Ok((None, "a/b".to_owned(), None)));
}

#[test]
fn what_is_no_call_gets_the_code_the_specification_gives() {
    for (text, expected) in [
        ("", "null -32700"),
        ("{", "null -32700"),
        (r#"{"jsonrpc":"2.0","method":"m","id":1"#, "null -32700"),
        (r#"{"jsonrpc":"2.0","method":"m","id":1} x"#, "null -32700"),
        ("[1,", "null -32700"),
        ("nonsense", "null -32700"),
        ("1", "null -32600"),
        ("\"x\"", "null -32600"),
        ("[]", "null -32600"),
        ("[1,2,3,4]", "null -32600"),
        ("{}", "null -32600"),
        (r#"{"jsonrpc":"2.0","method":"m","id":{}}"#, "null -32600"),
        (r#"{"jsonrpc":"2.0","method":"m","id":true}"#, "null -32600"),
        (r#"{"jsonrpc":"2.0","id":7}"#, "7 -32600"),
        (r#"{"jsonrpc":"2.0","method":5,"id":"x"}"#, "\"x\" -32600"),
        (r#"{"method":"m","id":7}"#, "7 -32600"),
        (r#"{"jsonrpc":"1.0","method":"m","id":7}"#, "7 -32600"),
        (r#"{"jsonrpc":2.0,"method":"m","id":7}"#, "7 -32600"),
        (r#"{"jsonrpc":null,"method":"m","id":7}"#, "7 -32600"),
        (r#"{"jsonrpc":"2.0","method":"m","method":"n","id":7}"#, "null -32600"),
    ] {
        assert_eq!(one(text), Err(expected.to_owned()), "{text}");
    }
    let refusal = parse(b"\"\xff\"", None).unwrap_err();
    assert_eq!(refusal.error.code, PARSE_ERROR);
    let refusal = parse(b"[{}]", None).unwrap_err();
    assert_eq!(refusal.error.code, INVALID_REQUEST);
    let refusal = parse(b"[{]", None).unwrap_err();
    assert_eq!(refusal.error.code, PARSE_ERROR);
}

#[test]
fn an_answer_is_not_a_call_and_is_not_answered() {
    for text in [r#"{"jsonrpc":"2.0","id":1,"result":null}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#] {
        assert!(matches!(parse(text.as_bytes(), None), Ok(Parsed::One(Message::Reply))), "{text}");
    }
}

#[test]
fn a_batch_is_judged_member_by_member() {
    let text = r#"[1, {"jsonrpc":"2.0","method":"m"}, []]"#;
    let Ok(Parsed::Batch(members)) = parse(text.as_bytes(), Some(3)) else { panic!("not a batch") };
    let codes: Vec<Option<i32>> = members.iter().map(|member| member.as_ref().err().map(|refusal| refusal.error.code)).collect();
    assert_eq!(codes, [Some(INVALID_REQUEST), None, Some(INVALID_REQUEST)]);
}

#[test]
fn params_are_an_object_or_nothing() {
    let params = |text: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m"{text}}}"#);
        match parse(text.as_bytes(), None) {
            Ok(Parsed::One(Message::Call(call))) => call.object_params().map(str::to_owned).map_err(|error| error.code),
            other => panic!("{other:?}"),
        }
    };
    for none in ["", r#","params":null"#, r#","params":{}"#, r#","params":[]"#, r#","params":[ ]"#] {
        assert_eq!(params(none).as_deref(), Ok("{}"), "{none}");
    }
    assert_eq!(params(r#","params":{"a":[1]}"#).as_deref(), Ok(r#"{"a":[1]}"#));
    for wrong in [r#","params":[1]"#, r#","params":"x""#, r#","params":1"#, r#","params":true"#] {
        assert_eq!(params(wrong), Err(-32602), "{wrong}");
    }
}

#[test]
fn what_is_written() {
    assert_eq!(reply("1.0", "null"), r#"{"jsonrpc":"2.0","id":1.0,"result":null}"#);
    assert_eq!(notification("ev\"ent", "{}"), r#"{"jsonrpc":"2.0","method":"ev\"ent","params":{}}"#);
    let error = ErrorObject::new(ErrorKind::Overloaded, "busy").with_hint("wait");
    assert_eq!(
        error_reply("\"x\"", &error),
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":1004,"message":"busy","data":{"kind":"overloaded","hint":"wait","retryable":true}}}"#
    );
}

proptest::proptest! {
    #[test]
    fn nothing_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = parse(&bytes, Some(3));
    }

    #[test]
    fn nothing_like_json_panics(text in r#"[\[\]{}",:0-9a-z. \\-]{0,60}"#) {
        let _ = parse(text.as_bytes(), Some(3));
    }
}
