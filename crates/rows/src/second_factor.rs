//! Rows of `second_factors` with their `recovery_codes`.

use kalends_accounts::{SecondFactor, TokenHash, TotpSecret};
use kalends_app::ports::FieldCipher;
use kalends_kernel::{StoreError, UserId};
use kalends_time::Timestamp;

use crate::{Located, places};

/// A second factor, joined with one of its recovery codes. If no code is left, there is one row without a code.
pub struct SecondFactorRow {
    /// The sealed secret.
    pub secret: String,
    /// When it was confirmed, in microseconds.
    pub confirmed_at: Option<i64>,
    /// The step of the last code.
    pub last_step: Option<i64>,
    /// When it was made, in microseconds.
    pub created_at: i64,
    /// The hash of a recovery code.
    pub code_hash: Option<Vec<u8>>,
}

impl SecondFactorRow {
    /// The second factor of the user from all of its rows; `None` if there are none.
    pub fn into_domain(
        user: UserId,
        rows: &[Self],
        cipher: &dyn FieldCipher,
    ) -> Result<Option<SecondFactor>, StoreError> {
        let Some(first) = rows.first() else { return Ok(None) };
        let factors = Located { table: "second_factors", id: user };
        let plain = factors.open(places::second_factor_secret(user), &first.secret, cipher)?;
        let length = plain.len();
        let secret: Result<[u8; 20], _> = plain.try_into();
        let secret = secret.map_err(|_| factors.corrupt("secret", format_args!("must be 20 bytes, got {length}")))?;
        let last_step = first.last_step.map(|step| factors.read("last_step", u64::try_from(step))).transpose()?;
        let codes = Located { table: "recovery_codes", id: user };
        let hashes = rows.iter().filter_map(|row| row.code_hash.as_deref());
        let recovery = hashes.map(|hash| codes.digest("code_hash", hash).map(TokenHash));
        Ok(Some(SecondFactor {
            user,
            secret: TotpSecret::from_bytes(secret),
            confirmed_at: first.confirmed_at.map(Timestamp::from_micros),
            last_step,
            recovery: recovery.collect::<Result<_, _>>()?,
            created_at: Timestamp::from_micros(first.created_at),
        }))
    }
}
