/// A last-writer-wins register: a value and the clock at which it was set.
public struct Register<Value: Sendable>: Sendable {
    public private(set) var value: Value
    public private(set) var clock: Clock

    public init(_ value: Value, at clock: Clock) {
        self.value = value
        self.clock = clock
    }

    /// Sets the value if the given clock is greater than the current one. Returns whether the value was set.
    @discardableResult
    public mutating func fold(_ value: Value, at clock: Clock) -> Bool {
        guard clock > self.clock else { return false }
        self = Register(value, at: clock)
        return true
    }
}

extension Register: Equatable where Value: Equatable {}
