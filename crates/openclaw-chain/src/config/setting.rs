//! The model setting: a text, or an object with a primary and fallbacks (chain.md 1.1).

use std::time::Duration;

use serde::de::{Error, MapAccess};

use super::non_blank;
use super::shape::{Count, Fields, FromObject, Known, List, Mode, Object, Shape, Text};

/// What a `model` key says.
///
/// An absent key and a key without any content are the same; an empty `fallbacks` list is content, because it
/// means "no fallbacks" (BL-98).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSetting {
    primary: Option<String>,
    fallbacks: Option<Vec<String>>,
    form: SettingForm,
    unknown_keys: Vec<String>,
}

/// How a model setting was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SettingForm {
    /// The key is absent, or its value cannot be read.
    #[default]
    Absent,
    /// An object.
    Object,
    /// A plain text.
    Text,
}

impl ModelSetting {
    /// The setting written as a plain text.
    fn text(primary: &str) -> Self {
        Self {
            primary: non_blank(primary).map(str::to_owned),
            form: SettingForm::Text,
            ..Self::default()
        }
    }

    /// The setting written as an object.
    pub fn object(primary: Option<&str>, fallbacks: Option<Vec<String>>) -> Self {
        Self {
            primary: primary.and_then(non_blank).map(str::to_owned),
            fallbacks,
            form: SettingForm::Object,
            unknown_keys: Vec::new(),
        }
    }

    /// The primary as written, trimmed; never blank.
    pub fn primary(&self) -> Option<&str> {
        self.primary.as_deref()
    }

    /// The fallbacks as written; `Some(&[])` was written as an empty list.
    pub fn fallbacks(&self) -> Option<&[String]> {
        self.fallbacks.as_deref()
    }

    /// How the setting was written.
    pub fn form(&self) -> SettingForm {
        self.form
    }

    /// Keys of the object that mean nothing here, such as `fallback` for `fallbacks`.
    pub(crate) fn unknown_keys(&self) -> &[String] {
        &self.unknown_keys
    }

    /// The list an agent's own setting imposes (chain.md 9.1, first column): its fallbacks, nothing at all when
    /// it only names a primary, and no opinion (`None`) when it says neither.
    pub(crate) fn imposed(&self) -> Option<&[String]> {
        match (&self.fallbacks, &self.primary) {
            (Some(list), _) => Some(list),
            (None, Some(_)) => Some(&[]),
            (None, None) => None,
        }
    }
}

const FALLBACKS: List<Text> = List(
    Text("a model reference such as \"openai/gpt-5.5\""),
    "a list of model references such as [\"openai/gpt-5.5\"]; one fallback is a list with one entry",
);

impl FromObject for ModelSetting {
    const SHAPE: &'static str = "a model reference such as \"openai/gpt-5.5\", or an object such as \
        { primary: \"openai/gpt-5.5\", fallbacks: [\"groq/llama-3.3-70b-versatile\"] }";

    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        fields: &mut Fields<A>,
    ) -> Result<Known, A::Error> {
        match key {
            "primary" => {
                let shape = Text("a model reference such as \"openai/gpt-5.5\"");
                let text = fields.value(shape)?;
                self.primary = text.as_deref().and_then(non_blank).map(str::to_owned);
            }
            "fallbacks" => self.fallbacks = fields.value(FALLBACKS)?,
            unknown => {
                self.unknown_keys.push(unknown.to_owned());
                return Ok(Known::No);
            }
        }
        Ok(Known::Yes)
    }
}

/// Reads a [`ModelSetting`].
#[derive(Clone, Copy)]
pub(crate) struct Model;

impl Shape for Model {
    type Value = ModelSetting;

    fn describe(&self) -> &str {
        ModelSetting::SHAPE
    }

    fn text<E: Error>(self, text: &str) -> Result<ModelSetting, E> {
        Ok(ModelSetting::text(text))
    }

    fn object<'de, A: MapAccess<'de>>(self, object: A, mode: Mode) -> Result<ModelSetting, A::Error> {
        let setting: ModelSetting = Object::new().object(object, mode)?;
        Ok(ModelSetting {
            form: SettingForm::Object,
            ..setting
        })
    }
}

/// What `imageModel` says: a model setting with an optional limit on one attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageModelSetting {
    /// The primary and the fallbacks.
    pub model: ModelSetting,
    /// How long one attempt may take (`timeoutMs`).
    pub timeout: Option<Duration>,
}

impl FromObject for ImageModelSetting {
    const SHAPE: &'static str = ModelSetting::SHAPE;

    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        fields: &mut Fields<A>,
    ) -> Result<Known, A::Error> {
        if key != "timeoutMs" {
            return self.model.field(key, fields);
        }
        let limit = Count("a whole number of milliseconds above 0, such as 60000");
        self.timeout = fields.value(limit)?.map(Duration::from_millis);
        Ok(Known::Yes)
    }
}

/// Reads an [`ImageModelSetting`].
#[derive(Clone, Copy)]
pub(crate) struct ImageModel;

impl Shape for ImageModel {
    type Value = ImageModelSetting;

    fn describe(&self) -> &str {
        ImageModelSetting::SHAPE
    }

    fn text<E: Error>(self, text: &str) -> Result<ImageModelSetting, E> {
        Ok(ImageModelSetting {
            model: ModelSetting::text(text),
            timeout: None,
        })
    }

    fn object<'de, A: MapAccess<'de>>(self, object: A, mode: Mode) -> Result<ImageModelSetting, A::Error> {
        let mut setting: ImageModelSetting = Object::new().object(object, mode)?;
        setting.model.form = SettingForm::Object;
        Ok(setting)
    }
}
