package import HesperModel

/// An edit of a register that the server has not acknowledged (clients.md, rules 2 and 3).
package struct LocalEdit: Sendable, Equatable {
    package var value: Value
    package var clock: Clock
    /// Whether the edit waits because the account is full (clients.md, rule 14).
    package var isHeld = false
    /// For an edit of a text: the earlier texts from which the new text descends.
    package var descent: Descent?

    package init(_ value: Value, at clock: Clock, descent: Descent? = nil) {
        self.value = value
        self.clock = clock
        self.descent = descent
    }

    /// The texts that an unsent text descends from (merge.md, Descent).
    package struct Descent: Sendable, Equatable {
        /// The acknowledged text that the first unsent edit changed; nil if there was none.
        package var base: Base?
        /// The clocks of texts that were sent and whose receipts have not arrived.
        package var after: [Clock] = []
        /// The text that was sent last, if `after` is full; otherwise nil. A full list has no room for the clock of a newer text.
        /// Therefore the last text is sent again instead of the newer text.
        package var last: Sent?
        /// Whether the text was moved to another object. If so, the text of the base is sent too, because the clock alone does not
        /// identify the base in the other object.
        package var isMoved = false

        package init(base: Base? = nil) { self.base = base }
    }

    package struct Base: Sendable, Equatable {
        package var clock: Clock
        package var value: String

        var cell: Cell { Cell(.string(value), at: clock) }

        package init(_ value: String, at clock: Clock) {
            self.value = value
            self.clock = clock
        }
    }

    package struct Sent: Sendable, Equatable {
        package var value: Value
        package var clock: Clock
        package var after: [Clock]
    }

    package var cell: Cell { Cell(value, at: clock) }

    /// Whether the edit sets a text, or sets an app-defined attribute to a string. If the account is full, such an edit is held.
    /// The other edits of the object are sent again (clients.md, rule 14).
    func isLarge(_ attribute: String) -> Bool {
        guard case .string = value else { return false }
        return AttributeName.isText(attribute) || attribute.hasPrefix("attributes.")
    }
}

extension LocalEdit {
    /// Writes the members of the edit's JSON.
    /// - Parameters:
    ///   - isVisible: whether the app sees the edit's value. If so, the value and the clock are left out here, because they are in
    ///     the columns `body` and `clocks`.
    ///   - below: the acknowledged register of the same attribute, which the caller stores. If the base equals this register, the
    ///     text of the base is left out.
    func write(to writer: inout JSONWriter, isVisible: Bool, below: Cell?) {
        if !isVisible {
            writer.member("value", value.json)
            writer.member("clock", clock)
        }
        if isHeld { writer.member("held", true) }
        guard let descent else { return }
        if let base = descent.base {
            writer.member("base", base.clock)
            if base.cell != below { writer.member("baseValue", base.value) }
        }
        writer.member("after", JSON(clocks: descent.after))
        if let last = descent.last {
            writer.name("last")
            writer.object { writer in
                writer.member("value", last.value.json)
                writer.member("clock", last.clock)
                writer.member("after", JSON(clocks: last.after))
            }
        }
        if descent.isMoved { writer.member("isMoved", true) }
    }

    /// Reads an edit that ``write(to:isVisible:below:)`` wrote.
    /// - Parameter visible: the register that the app sees.
    init?(json: JSON, visible: Cell?, below: Cell?) {
        guard let cell = Cell(json: json) ?? visible else { return nil }
        self.init(cell.value, at: cell.clock)
        isHeld = json["held"]?.bool ?? false
        guard let after = json["after"] else { return }
        var descent = Descent()
        if let base = json["base"]?.clock {
            descent.base = Base(json["baseValue"]?.string ?? below?.value.json.string ?? "", at: base)
        }
        descent.after = after.clocks
        if let last = json["last"], let cell = Cell(json: last) {
            descent.last = Sent(value: cell.value, clock: cell.clock, after: last["after"]?.clocks ?? [])
        }
        descent.isMoved = json["isMoved"]?.bool ?? false
        self.descent = descent
    }
}
