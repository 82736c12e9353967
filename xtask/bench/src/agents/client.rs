//! A client of the tools for models. It counts what it sends and reads.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::count::Count;
use crate::connection::{Connection, post};
use crate::json;

/// The endpoint with the tools that are written for models.
pub(crate) const ENDPOINT: &str = "/mcp";
/// How many characters of a refusal an error repeats.
const REPEATED: usize = 500;

/// A client with one key.
#[derive(Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    key: String,
    counted: Count,
}

/// The result of a call.
#[derive(Debug)]
struct Reply {
    /// All of its text.
    text: String,
    /// The JSON of the result, or of the error.
    value: Value,
    is_error: bool,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, key: &str) -> Self {
        Self { address, key: key.to_owned(), counted: Count::default() }
    }

    /// Another client with the same key, which has counted nothing.
    pub(crate) fn beside(&self) -> Self {
        Self::new(self.address, &self.key)
    }

    /// Calls a tool, and returns the JSON of its result. A refused call counts, too.
    ///
    /// # Errors
    /// If the tool refuses.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let reply = self.send(tool, arguments).await?;
        if reply.is_error {
            bail!("{tool} refused: {}", reply.text.chars().take(REPEATED).collect::<String>());
        }
        Ok(reply.value)
    }

    /// Calls a tool that must refuse, and returns its error.
    ///
    /// # Errors
    /// If the tool does not refuse.
    pub(crate) async fn refusal(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let reply = self.send(tool, arguments).await?;
        if !reply.is_error {
            bail!("{tool} did not refuse: {}", reply.text.chars().take(REPEATED).collect::<String>());
        }
        Ok(reply.value["error"].clone())
    }

    /// The size of the list of tools, as this key sees it.
    pub(crate) async fn list(&self) -> Result<Count> {
        let answer = self.ask("tools/list", &json!({})).await?;
        let tools = json::list(answer.get("result").context("an answer without a result")?, "tools")?;
        Ok(Count::of_text(&serde_json::to_string(tools)?))
    }

    /// What was counted since the last time.
    pub(crate) fn take(&mut self) -> Count {
        std::mem::take(&mut self.counted)
    }

    async fn send(&mut self, tool: &str, arguments: &Value) -> Result<Reply> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments })).await?;
        let reply = Reply::of(&answer).with_context(|| format!("{tool} cannot be read"))?;
        self.counted += Count::of_call(&arguments.to_string(), &reply.text);
        Ok(reply)
    }

    /// Sends one request of the protocol. A new connection for each request cannot be too old.
    async fn ask(&self, method: &str, params: &Value) -> Result<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut connection = Connection::open(self.address).await?;
        connection.ask(&post(ENDPOINT, Some(&self.key), None, &body)).await?.json(200)
    }
}

impl Reply {
    /// The result in an answer of the protocol. An error of the protocol is a refusal.
    fn of(answer: &Value) -> Result<Self> {
        if let Some(error) = answer.get("error") {
            return Ok(Self { text: error.to_string(), value: json!({ "error": error }), is_error: true });
        }
        let result = answer.get("result").context("an answer without a result")?;
        let blocks = json::list(result, "content")?;
        let texts: Vec<&str> = blocks.iter().map(|block| json::text(block, "text")).collect::<Result<_>>()?;
        // A warning about text of others may come first.
        let last = texts.last().context("a result without text")?;
        let value = serde_json::from_str(last).with_context(|| format!("a result that is not JSON: {last}"))?;
        Ok(Self { text: texts.concat(), value, is_error: result["isError"] == true })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::super::tokens;
    use super::*;

    /// A client of a server that gives these answers, each on its own connection.
    async fn client_of(answers: Vec<Value>) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                // The request is in one piece, because it is short.
                let read = stream.read(&mut [0; 4096]).await.unwrap();
                assert!(read > 0);
                let body = answer.to_string();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            }
        });
        Client::new(address, "key")
    }

    fn answer(texts: &[&str], is_error: bool) -> Value {
        let content: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": content, "isError": is_error } })
    }

    #[tokio::test]
    async fn arguments_and_results_are_counted() {
        let (warning, result) = ("Some text is from others.", r#"{"event_id":"evt_1"}"#);
        let mut client = client_of(vec![answer(&[warning, result], false), answer(&[result], false)]).await;
        let arguments = json!({ "event_id": "evt_1" });
        assert_eq!(client.call("get_event", &arguments).await.unwrap(), json!({ "event_id": "evt_1" }));
        client.call("get_event", &arguments).await.unwrap();

        let sent = arguments.to_string();
        let bytes = 2 * sent.len() + warning.len() + 2 * result.len();
        let read = tokens::number(&format!("{warning}{result}")) + tokens::number(result);
        let expected = Count { calls: 2, bytes, tokens: 2 * tokens::number(&sent) + read };
        assert_eq!(client.take(), expected);
        assert_eq!(client.take(), Count::default());
        assert_eq!(client.beside().take(), Count::default());
    }

    #[tokio::test]
    async fn refused_calls_are_counted() {
        let refused = r#"{"error":{"code":"slot_taken"}}"#;
        let protocol = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602, "message": "no such tool" } });
        let answers = vec![answer(&[refused], true), answer(&[refused], true), protocol, answer(&["{}"], false)];
        let mut client = client_of(answers).await;
        let nothing = json!({});
        assert_eq!(client.refusal("hold_time", &nothing).await.unwrap(), json!({ "code": "slot_taken" }));
        let error = client.call("hold_time", &nothing).await.unwrap_err().to_string();
        assert!(error.starts_with("hold_time refused: ") && error.contains("slot_taken"), "{error}");
        let error = client.call("hold_times", &nothing).await.unwrap_err().to_string();
        assert!(error.contains("no such tool"), "{error}");
        let error = client.refusal("hold_time", &nothing).await.unwrap_err().to_string();
        assert!(error.starts_with("hold_time did not refuse"), "{error}");
        assert_eq!(client.take().calls, 4);
    }

    #[tokio::test]
    async fn the_list_is_counted_without_a_call() {
        let listed = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "whoami" }] } });
        let mut client = client_of(vec![listed]).await;
        let text = r#"[{"name":"whoami"}]"#;
        assert_eq!(client.list().await.unwrap(), Count::of_text(text));
        assert_eq!(client.take(), Count::default());
    }
}
