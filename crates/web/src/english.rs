//! Pages that are in English, such as those of the console.

/// Gives each page its HTML, and the words of the frame around it in English.
macro_rules! in_english {
    ($($page:ty),+) => {$(
        impl $page {
            /// The page.
            pub fn html(&self) -> String {
                $crate::render(self)
            }

            fn words(&self) -> &'static ::kalends_i18n::Translator {
                ::kalends_i18n::Translator::english()
            }
        }
    )+};
}

pub(crate) use in_english;
