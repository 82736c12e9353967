//! A console session that changes its user repeatedly, and password guesses on one account.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;
use tokio::task::JoinSet;

use super::attacks::{Outcome, Scene};
use crate::connection::{get, patch, post};
use crate::json;

const EMAIL: &str = "attacker@example.com";
const PASSWORD: &str = "correct horse battery staple";
/// The number of connections.
const CONNECTIONS: usize = 4;
/// The rate of the free plan for a session, per second and as a burst.
const RATE: u64 = 10;
/// How many wrong passwords are allowed for one account, as a burst and for each minute.
const TRIES: u64 = 20;

/// Sends as many changes as a session can.
pub(crate) async fn changes(scene: &Scene<'_>) -> Result<Outcome> {
    sign_up(scene).await?;
    let enter = json!({ "email": EMAIL, "password": PASSWORD }).to_string();
    let mut connection = scene.connection().await?;
    let session = connection.ask(&post("/v1/auth/signin", None, None, &enter)).await?.json(200)?;
    let request = patch("/v1/auth/me", json::text(&session, "token")?, r#"{"name":"Attacker"}"#);
    let begun = Instant::now();
    let answered = sent(scene, request, scene.size.changes, 200).await?;
    let allowed = RATE * (begun.elapsed().as_secs() + 2);
    Ok(Outcome::of(format!("{answered} of {} changes were made", scene.size.changes))
        .unless(answered <= allowed, || format!("{answered} changes were made, {allowed} are allowed")))
}

/// Tries passwords.
pub(crate) async fn passwords(scene: &Scene<'_>) -> Result<Outcome> {
    sign_up(scene).await?;
    let enter = json!({ "email": EMAIL, "password": "wrong horse battery staple" }).to_string();
    let begun = Instant::now();
    let tried = sent(scene, post("/v1/auth/signin", None, None, &enter), scene.size.passwords, 401).await?;
    let allowed = TRIES * (begun.elapsed().as_secs() / 60 + 1);
    Ok(Outcome::of(format!("{tried} of {} passwords were checked", scene.size.passwords))
        .unless(tried <= allowed, || format!("{tried} passwords were tried at one account, {allowed} are allowed")))
}

/// Signs a user up, unless an earlier attack did.
async fn sign_up(scene: &Scene<'_>) -> Result<()> {
    let mut connection = scene.connection().await?;
    let terms = connection.ask(&get("/v1/auth/terms/current", None)).await?.json(200)?;
    let body = json!({
        "email": EMAIL, "password": PASSWORD, "name": "Attacker", "org_name": "Attackers",
        "tos_version": json::text(&terms, "version")?,
    });
    let made = connection.ask(&post("/v1/auth/signup", None, None, &body.to_string())).await?;
    if made.status != 409 {
        made.json(201)?;
    }
    Ok(())
}

/// Sends a request `count` times, and counts the answers with this status. All others must be refusals.
async fn sent(scene: &Scene<'_>, request: Vec<u8>, count: usize, status: u16) -> Result<u64> {
    let mut sending = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (mut connection, request) = (scene.connection().await?, request.clone());
        sending.spawn(async move {
            let mut counted = 0_u64;
            for _ in 0..count / CONNECTIONS {
                let got = connection.exchange(&request).await?.0;
                anyhow::ensure!(got == status || got == 429, "a request was answered with {got}");
                counted += u64::from(got == status);
            }
            Ok(counted)
        });
    }
    let mut counted = 0;
    while let Some(sent) = sending.join_next().await {
        counted += sent??;
    }
    Ok(counted)
}
