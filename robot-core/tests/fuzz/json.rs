//! Model of a JSON parser (RFC 8259).

use std::string::FromUtf16Error;

/// A value, as far as the contract distinguishes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    /// Its text.
    Number(String),
    /// `None` if its escapes are not valid characters.
    Text(Option<String>),
    /// Its members in their order, with repetitions.
    Object(Vec<(Option<String>, Node)>),
    /// An array, `true` or `false`.
    Other,
}

/// The value of a text, if it is JSON.
pub(crate) fn read(text: &str) -> Option<Node> {
    let mut reader = Reader(text);
    let node = reader.value()?;
    reader.0.is_empty().then_some(node)
}

/// The rest of the text.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn take(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn white_space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// A value and the white space around it.
    fn value(&mut self) -> Option<Node> {
        self.white_space();
        let node = match self.0.chars().next()? {
            '{' => self.object()?,
            '[' => self.array()?,
            '"' => Node::Text(self.string()?.ok()),
            '-' | '0'..='9' => self.number()?,
            _ => self.literal()?,
        };
        self.white_space();
        Some(node)
    }

    fn literal(&mut self) -> Option<Node> {
        if self.take("null").is_some() {
            return Some(Node::Null);
        }
        self.take("true").or_else(|| self.take("false"))?;
        Some(Node::Other)
    }

    fn object(&mut self) -> Option<Node> {
        let mut members = Vec::new();
        self.take("{")?;
        self.white_space();
        if self.take("}").is_some() {
            return Some(Node::Object(members));
        }
        loop {
            self.white_space();
            let name = self.string()?;
            self.white_space();
            self.take(":")?;
            members.push((name.ok(), self.value()?));
            if self.take("}").is_some() {
                return Some(Node::Object(members));
            }
            self.take(",")?;
        }
    }

    fn array(&mut self) -> Option<Node> {
        self.take("[")?;
        self.white_space();
        if self.take("]").is_some() {
            return Some(Node::Other);
        }
        loop {
            self.value()?;
            if self.take("]").is_some() {
                return Some(Node::Other);
            }
            self.take(",")?;
        }
    }

    fn number(&mut self) -> Option<Node> {
        let whole = self.0;
        let _ = self.take("-");
        if self.take("0").is_none() {
            self.digits()?;
        }
        if self.take(".").is_some() {
            self.digits()?;
        }
        if self.take("e").or_else(|| self.take("E")).is_some() {
            let _ = self.take("+").or_else(|| self.take("-"));
            self.digits()?;
        }
        let length = whole.len() - self.0.len();
        Some(Node::Number(whole[..length].to_owned()))
    }

    fn digits(&mut self) -> Option<()> {
        let rest = self
            .0
            .trim_start_matches(|digit: char| digit.is_ascii_digit());
        let has_some = rest.len() < self.0.len();
        self.0 = rest;
        has_some.then_some(())
    }

    /// A string, which may have an unpaired surrogate.
    fn string(&mut self) -> Option<Result<String, FromUtf16Error>> {
        self.take("\"")?;
        let mut units = Vec::new();
        loop {
            let mut characters = self.0.chars();
            let character = characters.next()?;
            self.0 = characters.as_str();
            match character {
                '"' => return Some(String::from_utf16(&units)),
                '\\' => units.push(self.escape()?),
                '\0'..='\x1f' => return None,
                plain => units.extend_from_slice(plain.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escape(&mut self) -> Option<u16> {
        let mut characters = self.0.chars();
        let character = characters.next()?;
        self.0 = characters.as_str();
        Some(match character {
            '"' | '\\' | '/' => character as u16,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'u' => {
                let digits = self.0.get(..4)?;
                self.0 = &self.0[4..];
                let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                is_hexadecimal.then(|| u16::from_str_radix(digits, 16).ok())??
            }
            _ => return None,
        })
    }
}
