/// What became of one element of a push: from it a client can show, or undo, what happened (protocol.md, Sync).
public struct Receipt: Sendable, Equatable {
    /// From the best to the worst: an object has the worst of its fields.
    public enum Status: String, Sendable, Comparable, CaseIterable {
        /// It was there already, and stands.
        case unchanged
        /// What was sent stands.
        case applied
        /// Something else stands for at least one field.
        case merged
        /// The note was deleted, and words that the deletion had not seen are in a new one.
        case rescued
        /// The object is a DeletedObject.
        case deleted
        /// At least one field was refused.
        case rejected

        public static func < (left: Status, right: Status) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// What became of one field that does not simply stand.
    public struct Field: Sendable, Equatable {
        public enum Outcome: String, Sendable { case merged, superseded, deleted, rejected }

        public var outcome: Outcome
        /// The clock of what stands instead.
        public var clock: Clock?
        /// Of a text: words of it that are not in what stands, in the order of the text that stands.
        public var superseded: [TextMerge.Superseded] = []
        public var problem: Problem?

        public init(_ outcome: Outcome, clock: Clock? = nil, problem: Problem? = nil) {
            self.outcome = outcome
            self.clock = clock
            self.problem = problem
        }
    }

    /// Nil if the element had none that could be read.
    public let uniqueID: UniqueID?
    public let objectType: String?
    /// Where the element stands in the request.
    public let pointer: String
    public var status: Status
    /// By the name of the field as ``Attribute/description`` has it, or as it was sent if it is not known.
    public var fields: [String: Field]
    /// Of the deletion of a note: the new note, if the status is ``Status/rescued``.
    public var rescuedInto: UniqueID?
    /// Why the element as a whole was refused.
    public var problem: Problem?

    public init(
        uniqueID: UniqueID?, objectType: String?, pointer: String, status: Status,
        fields: [String: Field] = [:], problem: Problem? = nil
    ) {
        self.uniqueID = uniqueID
        self.objectType = objectType
        self.pointer = pointer
        self.status = status
        self.fields = fields
        self.problem = problem
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let uniqueID { writer.member("uniqueID", uniqueID) }
            if let objectType { writer.member("objectType", objectType) }
            writer.member("pointer", pointer)
            writer.member("status", status.rawValue)
            if let rescuedInto { writer.member("rescuedInto", rescuedInto) }
            if !fields.isEmpty {
                writer.name("fields")
                writer.object { writer in
                    for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
                        writer.name(name)
                        writer.object { writer in
                            writer.member("outcome", field.outcome.rawValue)
                            if let clock = field.clock { writer.member("clock", clock) }
                            if !field.superseded.isEmpty { writer.member("superseded", field.superseded) }
                            if let problem = field.problem { writer.member("problem", problem.json) }
                        }
                    }
                }
            }
            if let problem { writer.member("problem", problem.json) }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ superseded: [TextMerge.Superseded]) {
        self.name(name)
        array { writer in
            for words in superseded {
                writer.object { writer in
                    writer.member("text", words.text)
                    writer.member("location", Int64(words.location))
                    writer.member("length", Int64(words.length))
                }
            }
        }
    }
}
