/// A last-writer-wins register: a value and the clock it was set at.
public struct Register<Value: Sendable>: Sendable {
    public private(set) var value: Value
    public private(set) var clock: Clock

    public init(_ value: Value, at clock: Clock) {
        self.value = value
        self.clock = clock
    }

    /// Takes the value if its clock is the greater; whether it did.
    @discardableResult
    public mutating func fold(_ value: Value, at clock: Clock) -> Bool {
        guard clock > self.clock else { return false }
        self = Register(value, at: clock)
        return true
    }
}

extension Register: Equatable where Value: Equatable {}

/// A mutable property that merges by itself: its value is read plainly, its clock through the `$`.
///
///     struct Tag { @Merged var name = "" }
///     tag.$name.fold("Paris", at: clock)   // the greater clock stands
///     tag.name                             // "Paris"
@propertyWrapper
public struct Merged<Value: Sendable>: Sendable {
    public private(set) var wrappedValue: Value
    /// Nil until the property is first set: it has its default.
    public private(set) var clock: Clock?

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public var projectedValue: Merged {
        get { self }
        set { self = newValue }
    }

    /// Takes the value if its clock is the greater, or the first; whether it did.
    @discardableResult
    public mutating func fold(_ value: Value, at clock: Clock) -> Bool {
        if let standing = self.clock, standing >= clock { return false }
        wrappedValue = value
        self.clock = clock
        return true
    }
}

extension Merged: Equatable where Value: Equatable {}
