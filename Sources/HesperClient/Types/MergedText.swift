/// A text whose versions are merged: if two devices edit it at the same time, both edits are kept.
///
/// A ``Note`` has one, and an object of a type that an app declares has at most four. A text has at most 1 MiB.
///
///     @Merged var method: MergedText = ""
///
/// Two texts are equal if they have the same bytes in UTF-8.
public struct MergedText: MergedValue, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The text as a string.
    public var string: String

    /// Creates a text.
    public init(_ string: String = "") { self.string = string }

    /// Creates a text from a literal.
    public init(stringLiteral string: String) { self.string = string }

    public var description: String { string }

    public static func == (left: Self, right: Self) -> Bool { left.string.isIdentical(to: right.string) }

    /// Reads a text from a string.
    public init(from decoder: any Decoder) throws {
        self = try Self.read(decoder) ?? MergedText(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text as a string.
    public func encode(to encoder: any Encoder) throws {
        if try isWritten(encoder) { return }
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension MergedText: RegisterCoded {
    init(_ reader: ImageReader, _ name: String) throws {
        if case .string(let text)? = reader.image.values[name] { self.init(text) } else { self.init() }
    }

    func write(_ writer: ImageWriter, _ name: String) throws {
        writer.note(name, .text, Self.self)
        writer.put(name, .text(string))
    }
}
