//! A writer of MCAP, the container of robot logs (<https://mcap.dev/spec>): messages in JSON, one after the other, without chunks.
//!
//! A home-made one because this is all of it: the crate of that name brings compression, chunks and a parser along.

/// What a file begins and ends with.
const MAGIC: [u8; 8] = [0x89, b'M', b'C', b'A', b'P', b'0', b'\r', b'\n'];

/// The kinds of records that are written.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Kind {
    Header = 0x01,
    Footer = 0x02,
    Schema = 0x03,
    Channel = 0x04,
    Message = 0x05,
    Statistics = 0x0b,
    DataEnd = 0x0f,
}

/// The fields of a record, little-endian.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A length of four bytes and so many bytes: texts, and maps as a whole.
    fn bytes(mut self, bytes: &[u8]) -> Self {
        self = self.u32(bytes.len() as u32);
        self.0.extend(bytes);
        self
    }

    fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }
}

/// A log that is being written.
#[derive(Debug)]
pub struct Mcap {
    bytes: Vec<u8>,
    channels: Vec<Topic>,
    times: Option<(u64, u64)>,
}

/// A topic, its records and how many messages it has.
#[derive(Debug)]
struct Topic {
    schema: Vec<u8>,
    channel: Vec<u8>,
    messages: u32,
}

impl Default for Mcap {
    fn default() -> Self {
        let mut log = Self { bytes: MAGIC.to_vec(), channels: Vec::new(), times: None };
        log.record(Kind::Header, &Fields::default().text("").text("wdgnn"));
        log
    }
}

impl Mcap {
    fn record(&mut self, kind: Kind, fields: &Fields) {
        self.bytes.push(kind as u8);
        self.bytes.extend((fields.0.len() as u64).to_le_bytes());
        self.bytes.extend(&fields.0);
    }

    /// Adds a topic of JSON messages; `schema` is their name and their JSON schema. Returns its number.
    pub fn topic(&mut self, topic: &str, schema: (&str, &str)) -> u16 {
        let number = self.channels.len() as u16;
        let (name, data) = schema;
        // Number 0 means that there is no schema.
        let schema = Fields::default().u16(number + 1).text(name).text("jsonschema").bytes(data.as_bytes());
        let channel = Fields::default().u16(number).u16(number + 1).text(topic).text("json").bytes(&[]);
        self.record(Kind::Schema, &schema);
        self.record(Kind::Channel, &channel);
        self.channels.push(Topic { schema: schema.0, channel: channel.0, messages: 0 });
        number
    }

    /// Adds a message at a time in nanoseconds.
    pub fn message(&mut self, topic: u16, nanoseconds: u64, json: &str) {
        let Some(channel) = self.channels.get_mut(usize::from(topic)) else { return };
        let mut fields = Fields::default().u16(topic).u32(channel.messages).u64(nanoseconds).u64(nanoseconds);
        fields.0.extend(json.as_bytes());
        channel.messages += 1;
        let (first, last) = self.times.unwrap_or((nanoseconds, nanoseconds));
        self.times = Some((first.min(nanoseconds), last.max(nanoseconds)));
        self.record(Kind::Message, &fields);
    }

    /// Ends the log: its bytes, with a summary of what is in it.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.record(Kind::DataEnd, &Fields::default().u32(0));
        let summary = self.bytes.len() as u64;
        let topics = std::mem::take(&mut self.channels);
        let counts: Vec<u8> = (0_u16..)
            .zip(&topics)
            .flat_map(|(number, topic)| Fields::default().u16(number).u64(topic.messages.into()).0)
            .collect();
        let messages: u64 = topics.iter().map(|topic| u64::from(topic.messages)).sum();
        let (first, last) = self.times.unwrap_or_default();
        let count = topics.len() as u32;
        for topic in topics {
            self.record(Kind::Schema, &Fields(topic.schema));
            self.record(Kind::Channel, &Fields(topic.channel));
        }
        // No attachments, metadata or chunks.
        let statistics = Fields::default().u64(messages).u16(count as u16).u32(count).u32(0).u32(0).u32(0);
        self.record(Kind::Statistics, &statistics.u64(first).u64(last).bytes(&counts));
        self.record(Kind::Footer, &Fields::default().u64(summary).u64(0).u32(0));
        self.bytes.extend(MAGIC);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_a_row_of_records_between_two_magics() {
        let mut log = Mcap::default();
        let topic = log.topic("/a", ("A", "{}"));
        log.message(topic, 5, "{\"x\":1}");
        let bytes = log.finish();
        let inside = bytes.strip_prefix(&MAGIC).unwrap().strip_suffix(&MAGIC).unwrap();
        let mut kinds = Vec::new();
        let mut rest = inside;
        while let [kind, after @ ..] = rest {
            let (length, content) = after.split_first_chunk().unwrap();
            kinds.push(*kind);
            rest = &content[u64::from_le_bytes(*length) as usize..];
        }
        assert_eq!(kinds, [1, 3, 4, 5, 15, 3, 4, 11, 2]);
    }
}
