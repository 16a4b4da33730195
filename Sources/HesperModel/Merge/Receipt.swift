/// The result for one element of a push. A client can show it to the user, for example to offer words that were not kept
/// (protocol.md, Sync).
public struct Receipt: Sendable, Equatable {
    /// The result for an element, ordered from best to worst. An element has the worst status of its fields.
    public enum Status: String, Sendable, Comparable, CaseIterable {
        /// The server already had the pushed values, and they are current.
        case unchanged
        /// The pushed values are current.
        case applied
        /// For at least one field, another value is current.
        case merged
        /// The object was deleted. The words that the deleting device had not seen are in a new object.
        case rescued
        /// The change concerns a deleted object.
        case deleted
        /// At least one field was rejected.
        case rejected

        public static func < (left: Status, right: Status) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// The result for one field whose pushed value is not current.
    public struct Field: Sendable, Equatable {
        public enum Outcome: String, Sendable { case merged, superseded, deleted, rejected }

        public var outcome: Outcome
        /// The clock of the field's current value; nil if the field has no value.
        public var clock: Clock?
        /// For a text: the words of the pushed text that the current text lacks. Each entry also has the location, in the current
        /// text, of the words that replaced them. The entries are ordered by this location.
        public var superseded: [TextMerge.Superseded] = []
        public var problem: Problem?

        public init(_ outcome: Outcome, clock: Clock? = nil, problem: Problem? = nil) {
            self.outcome = outcome
            self.clock = clock
            self.problem = problem
        }
    }

    /// The object's ID; nil if the element has no valid ID.
    public let uniqueID: UniqueID?
    public let objectType: String?
    /// The JSON Pointer of the element in the request.
    public let pointer: String
    public var status: Status
    /// The results for the fields whose pushed value is not current. The key is the ``Attribute/description``, or the name in
    /// the request if the field is unknown.
    public var fields: [String: Field]
    /// The ID of the new object, if the status is ``Status/rescued``.
    public var rescuedInto: UniqueID?
    /// The reason why the whole element was rejected; nil if it was not rejected as a whole.
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
