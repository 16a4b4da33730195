package import HesperModel

/// The visible values of an object, as in the columns `body` and `clocks` of the local copy.
package struct ObjectImage: Sendable {
    package var id: UniqueID
    /// The value of each register and of each immutable field, by the name of its attribute.
    package var values: [String: Value]
    /// The clocks of the registers. They order the members of sets.
    package var clocks: [String: Clock]

    package init(id: UniqueID, values: [String: Value], clocks: [String: Clock] = [:]) {
        self.id = id
        self.values = values
        self.clocks = clocks
    }
}

/// A change of an object's attributes.
package enum AttributeChange: Equatable, Sendable {
    case set(String, Value)
    /// Adds this number to a counter. Each node has its own register of the counter, `<name>.<node>`.
    case add(String, Int)
    /// A text was edited: `base` is the text before, or nil for a new object, and `now` is the text after.
    case text(String, base: String?, now: String)

    /// Whether the change sets a file to nil.
    var isEmptyFile: Bool {
        if case .set(let attribute, .null) = self { attribute.hasPrefix("files.") } else { false }
    }
}
