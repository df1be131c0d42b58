//! Authenticated encryption: AES-256-GCM. What is sealed is a nonce, the encrypted bytes and their tag.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

pub(crate) use aws_lc_rs::aead::NONCE_LEN;

/// A key that seals and opens.
pub(crate) struct SealingKey(LessSafeKey);

impl SealingKey {
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &bytes).expect("32 bytes are a key")))
    }

    /// Encrypts a short text that belongs to `owner`. `nonce` is random.
    pub fn seal(&self, owner: &[u8], text: &[u8], nonce: [u8; NONCE_LEN]) -> Vec<u8> {
        let mut sealed = text.to_vec();
        let done = self.0.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(owner), &mut sealed);
        done.expect("the text is shorter than the cipher takes");
        [&nonce[..], &sealed].concat()
    }

    /// The text; `None` if it is not one that this key has encrypted for this owner.
    pub fn open(&self, owner: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut text = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = self.0.open_in_place(nonce, Aad::from(owner), &mut text).ok()?.len();
        text.truncate(length);
        Some(text)
    }
}
