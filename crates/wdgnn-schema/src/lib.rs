//! Descriptions of radio frames for other languages, made from the schemas of the frame types.

#![forbid(unsafe_code)]

mod c;
mod json;
mod python;
mod text;
mod wireshark;

use postcard::experimental::max_size::MaxSize;
use postcard_schema::{
    Schema,
    key::Key,
    schema::{DataModelType, NamedType},
};
use wdgnn_link::frames::{
    Dot154Frame, Esb32Frame, EspNowFrame, ExactFrame, IdentityProofFrame, KeyUpdateFrame, P2p57Frame,
    PoseFrame, SealedDot154Frame, SealedEsb32Frame, SealedEspNowFrame, SealedExactFrame, SealedP2p57Frame,
    SealedPoseFrame, poses::POSE_BYTE,
};

/// Language of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// Table of all fields.
    Text,
    /// List of frames with fields and postcard schema, one frame per line.
    Json,
    /// C header with one struct per frame.
    C,
    /// Python module that decodes and encodes frames.
    Python,
    /// Wireshark dissector in Lua.
    Wireshark,
}

/// Type of a number in a frame. All of them are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    U8,
    U16,
    U24,
    U32,
    F16,
    F32,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U24 => "u24",
            Self::U32 => "u32",
            Self::F16 => "f16",
            Self::F32 => "f32",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 => 2,
            Self::U24 => 3,
            Self::U32 | Self::F32 => 4,
        }
    }
}

/// Field of a frame: `count` numbers of one kind.
#[derive(Debug)]
struct Field {
    /// Name of the field in its struct; elements of a list of structs have their index in front.
    name: String,
    offset: usize,
    kind: Kind,
    count: usize,
    /// Whether the schema has a list, which may have one element.
    list: bool,
}

impl Field {
    fn bytes(&self) -> usize {
        self.kind.bytes() * self.count
    }

    /// Type with its count, such as `f16[18]`.
    fn type_name(&self) -> String {
        if self.list { format!("{}[{}]", self.kind.name(), self.count) } else { self.kind.name().into() }
    }
}

/// Frame with its fields in byte order.
#[derive(Debug)]
struct Frame {
    name: &'static str,
    /// First byte of all frames of this kind.
    first: u8,
    bytes: usize,
    key: [u8; 8],
    schema: &'static NamedType,
    fields: Vec<Field>,
}

impl Frame {
    fn new<F: Schema + MaxSize>(name: &'static str, first: u8) -> Self {
        let mut fields = Vec::new();
        let bytes = walk(F::SCHEMA, "", 0, &mut fields);
        assert_eq!(bytes, F::POSTCARD_MAX_SIZE, "{name} has one length");
        Self { name, first, bytes, key: Key::for_path::<F>(name).to_bytes(), schema: F::SCHEMA, fields }
    }

    /// Key as hexadecimal digits.
    fn key(&self) -> String {
        format!("{:016x}", u64::from_be_bytes(self.key))
    }

    /// Name in lower case with underscores: `dot154_frame`.
    fn snake(&self) -> String {
        let mut snake = String::new();
        for letter in self.name.chars() {
            if letter.is_ascii_uppercase() && !snake.is_empty() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        snake
    }
}

/// Appends the fields of a type that begins at `offset`. Returns the offset behind it.
fn walk(schema: &NamedType, name: &str, offset: usize, fields: &mut Vec<Field>) -> usize {
    let mut leaf = |kind: Kind, count: usize, list: bool| {
        let field = Field { name: name.into(), offset, kind, count, list };
        let end = offset + field.bytes();
        fields.push(field);
        end
    };
    if let Some(kind) = number(schema) {
        return leaf(kind, 1, false);
    }
    match schema.ty {
        DataModelType::NewtypeStruct(inner) => walk(inner, name, offset, fields),
        DataModelType::Tuple(elements) => match elements.first().and_then(|first| number(first)) {
            Some(kind) => leaf(kind, elements.len(), true),
            None => elements.iter().enumerate().fold(offset, |offset, (index, element)| {
                walk(element, &format!("{name}_{index}"), offset, fields)
            }),
        },
        DataModelType::Struct(values) => values.iter().fold(offset, |offset, value| {
            // Field names of the header differ from all others.
            let nested = !name.is_empty() && name != "header";
            let name = if nested { format!("{name}_{}", value.name) } else { value.name.into() };
            walk(value.ty, &name, offset, fields)
        }),
        other => unreachable!("frames have no {other:?}"),
    }
}

/// Kind of a type that is one number.
fn number(schema: &NamedType) -> Option<Kind> {
    match (schema.name, schema.ty) {
        ("U16Le", _) => Some(Kind::U16),
        ("U24Le", _) => Some(Kind::U24),
        ("U32Le", _) => Some(Kind::U32),
        ("F16", _) => Some(Kind::F16),
        (_, DataModelType::U8) => Some(Kind::U8),
        (_, DataModelType::F32) => Some(Kind::F32),
        _ => None,
    }
}

/// All frames with the dimensions of the flocking network.
fn frames() -> Vec<Frame> {
    vec![
        Frame::new::<ExactFrame>("ExactFrame", 0x01),
        Frame::new::<Dot154Frame>("Dot154Frame", 0x21),
        Frame::new::<EspNowFrame>("EspNowFrame", 0x31),
        Frame::new::<Esb32Frame>("Esb32Frame", 0x41),
        Frame::new::<P2p57Frame>("P2p57Frame", 0x51),
        Frame::new::<SealedExactFrame>("SealedExactFrame", 0x01),
        Frame::new::<SealedDot154Frame>("SealedDot154Frame", 0x21),
        Frame::new::<SealedEspNowFrame>("SealedEspNowFrame", 0x31),
        Frame::new::<SealedEsb32Frame>("SealedEsb32Frame", 0x41),
        Frame::new::<SealedP2p57Frame>("SealedP2p57Frame", 0x51),
        Frame::new::<KeyUpdateFrame>("KeyUpdateFrame", 0xf1),
        Frame::new::<KeyUpdateFrame<4>>("ShortKeyUpdateFrame", 0xf1),
        Frame::new::<IdentityProofFrame>("IdentityProofFrame", 0xa1),
        Frame::new::<PoseFrame>("PoseFrame", POSE_BYTE),
        Frame::new::<SealedPoseFrame>("SealedPoseFrame", POSE_BYTE),
    ]
}

/// Description of all frames.
pub fn describe(format: Format) -> String {
    let frames = frames();
    match format {
        Format::Text => text::describe(&frames),
        Format::Json => json::describe(&frames),
        Format::C => c::describe(&frames),
        Format::Python => python::describe(&frames),
        Format::Wireshark => wireshark::describe(&frames),
    }
}
