//! `kalends user`.

use kalends_app::operators;
use kalends_time::Timestamp;
use serde::Serialize;

use super::{json_line, with_app};
use crate::{cli::UserCommand, config::Config, failure::Failure};

/// The output for a user whose address is proved.
#[derive(Serialize)]
struct Verified<'a> {
    user_id: String,
    email: &'a str,
    email_verified_at: Option<Timestamp>,
}

/// The output for a user who can set a password.
#[derive(Serialize)]
struct Link<'a> {
    user_id: String,
    email: &'a str,
    url: String,
    expires_at: Timestamp,
}

/// The output for a user whose second factor is removed.
#[derive(Serialize)]
struct Removed<'a> {
    user_id: String,
    email: &'a str,
}

/// Runs one `kalends user` command.
pub(crate) async fn user(config: &Config, command: UserCommand) -> Result<(), Failure> {
    with_app(config, |app| async move {
        match command {
            UserCommand::Verify { email } => {
                let user = operators::verify_user(&app, &email).await?;
                json_line(&Verified {
                    user_id: user.id.to_string(),
                    email: user.email.as_str(),
                    email_verified_at: user.email_verified_at,
                })
            }
            UserCommand::ResetPassword { email } => {
                let operators::PasswordLink { user, url, expires_at } = operators::reset_password(&app, &email).await?;
                json_line(&Link { user_id: user.id.to_string(), email: user.email.as_str(), url, expires_at })
            }
            UserCommand::RemoveSecondFactor { email } => {
                let user = operators::remove_second_factor(&app, &email).await?;
                json_line(&Removed { user_id: user.id.to_string(), email: user.email.as_str() })
            }
        }
    })
    .await
}
