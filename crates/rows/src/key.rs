//! Keys of rows, as the databases return them.

use uuid::Uuid;

/// A key as a database returns it: native, as 16 bytes, or as text.
pub trait Key {
    /// The identifier, or an error if the value is not one.
    fn read(&self) -> Result<Uuid, uuid::Error>;

    /// The beginning of the value, for the error about a row whose own key cannot be read.
    fn shown(&self) -> String;
}

impl Key for Uuid {
    fn read(&self) -> Result<Uuid, uuid::Error> {
        Ok(*self)
    }

    fn shown(&self) -> String {
        self.simple().to_string()
    }
}

impl Key for [u8] {
    fn read(&self) -> Result<Uuid, uuid::Error> {
        Uuid::from_slice(self)
    }

    fn shown(&self) -> String {
        self.iter().take(32).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Key for Vec<u8> {
    fn read(&self) -> Result<Uuid, uuid::Error> {
        self.as_slice().read()
    }

    fn shown(&self) -> String {
        self.as_slice().shown()
    }
}

impl Key for str {
    fn read(&self) -> Result<Uuid, uuid::Error> {
        self.parse()
    }

    fn shown(&self) -> String {
        self.chars().take(64).collect()
    }
}

impl Key for String {
    fn read(&self) -> Result<Uuid, uuid::Error> {
        self.as_str().read()
    }

    fn shown(&self) -> String {
        self.as_str().shown()
    }
}

impl<K: Key + ?Sized> Key for &K {
    fn read(&self) -> Result<Uuid, uuid::Error> {
        (**self).read()
    }

    fn shown(&self) -> String {
        (**self).shown()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_key_is_the_same_identifier() {
        let id = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001);
        assert_eq!(id.read(), Ok(id));
        assert_eq!(id.as_bytes().to_vec().read(), Ok(id));
        assert_eq!(id.simple().to_string().read(), Ok(id));
        assert_eq!(id.to_string().as_str().read(), Ok(id));
        assert_eq!(id.shown(), id.as_bytes().to_vec().shown());
    }

    #[test]
    fn other_values_are_errors_and_are_shown_in_part() {
        assert!(vec![0xab; 15].read().is_err());
        assert_eq!(vec![0xab; 15].shown(), "ab".repeat(15));
        assert_eq!(vec![0xab; 4000].shown(), "ab".repeat(32));
        assert!("agt_1".read().is_err());
        assert_eq!("é".repeat(4000).shown(), "é".repeat(64));
    }
}
