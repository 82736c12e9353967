//! Runs the examples of `docs/use/webhooks.md` on real messages.
//!
//! Nothing is installed. If the machine lacks an example's interpreter, the example is skipped with a note. The
//! shell's example always runs, because every machine that builds this has a shell.

use std::{path::Path, process::Stdio};

use kalends_e2e::{Database::Sqlite, Received};
use rstest::rstest;
use tokio::{io::AsyncWriteExt as _, process::Command};

use crate::{
    fixtures::agent,
    webhooks::{hook, with_receiver},
};

/// The example in this language.
fn example(language: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/use/webhooks.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap_or_else(|| panic!("no {language}"));
    rest.split_once("```").unwrap().0.to_owned()
}

/// Whether the program accepts the message as genuine.
async fn accepts(command: &[&str], script: &str, secret: &str, message: &Received, signature: &str) -> bool {
    let mut process = Command::new(command[0])
        .args(&command[1..])
        .arg(script)
        .env("SECRET", secret)
        .env("ID", message.header("webhook-id"))
        .env("TIMESTAMP", message.header("x-timestamp"))
        .env("SIGNATURE", signature)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = process.stdin.take().unwrap();
    // A program that refuses early may not read the rest.
    let _ = stdin.write_all(&message.body).await;
    drop(stdin);
    let ended = process.wait_with_output().await.unwrap();
    let complaint = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(matches!(ended.status.code(), Some(0 | 1)) && complaint.is_empty(), "{command:?}: {complaint}");
    ended.status.success()
}

#[rstest]
#[case::python("python", &["python3", "-c"], "x-signature")]
#[case::javascript("javascript", &["node", "-e"], "webhook-signature")]
#[case::shell("sh", &["sh", "-c"], "x-signature")]
#[tokio::test]
async fn examples_verify_real_messages(#[case] language: &str, #[case] command: &[&str], #[case] header: &str) {
    let probe = Command::new(command[0]).args(&command[1..]).arg("").stdin(Stdio::null()).output().await;
    if language != "sh" && !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("this machine has no {}: its example is not run", command[0]);
        return;
    }
    let script = example(language);
    let (_server, api, receiver) = with_receiver(Sqlite, "pro").await;
    let made = hook(&api, &receiver, "/", &["agent.created"]).await;
    let first = made["secret"].as_str().unwrap().to_owned();
    agent(&api).await;
    let message = receiver.wait_for("/", 1).await.remove(0);
    let signature = message.header(header).to_owned();
    assert!(accepts(command, &script, &first, &message, &signature).await);

    // Every change is detected.
    let mut changed = message.clone();
    changed.body.push(b' ');
    assert!(!accepts(command, &script, &first, &changed, &signature).await, "the body");
    let mut moved = message.clone();
    let later = message.header("x-timestamp").parse::<i64>().unwrap() + 1;
    for name in ["x-timestamp", "webhook-timestamp"] {
        moved.headers.insert(name, later.to_string().parse().unwrap());
    }
    assert!(!accepts(command, &script, &first, &moved, &signature).await, "the timestamp");
    let mut old = message.clone();
    old.headers.insert("x-timestamp", "1614265330".parse().unwrap());
    assert!(!accepts(command, &script, &first, &old, &signature).await, "a replay");

    // After a rotation, the new secret verifies the message. The old secret verifies it with its own header, and
    // another secret does not.
    let rotated = api.post(format!("/v1/webhooks/{}/rotate-secret", made.id())).await.expect(200);
    let second = rotated["secret"].as_str().unwrap().to_owned();
    agent(&api).await;
    let message = receiver.wait_for("/", 2).await.remove(1);
    let signature = message.header(header).to_owned();
    assert!(accepts(command, &script, &second, &message, &signature).await);
    let previous = if header == "x-signature" { message.header("x-signature-previous") } else { &signature };
    assert!(accepts(command, &script, &first, &message, previous).await);
    let other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
    assert!(!accepts(command, &script, other, &message, &signature).await, "the secret");
}
