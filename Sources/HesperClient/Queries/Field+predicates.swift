internal import HesperModel

// MARK: Scalars

extension Field where Value: MergedScalar {
    public static func == (left: Self, right: Value) -> Condition<Object> { left.compare(.equal, right) }
    public static func != (left: Self, right: Value) -> Condition<Object> { left.compare(.notEqual, right) }

    /// Whether the property has one of the given values.
    public func isIn(_ values: some Sequence<Value>) -> Condition<Object> { among(values) }
}

extension Field where Value: MergedScalar & Comparable {
    public static func < (left: Self, right: Value) -> Condition<Object> { left.compare(.less, right) }
    public static func <= (left: Self, right: Value) -> Condition<Object> { left.compare(.lessOrEqual, right) }
    public static func > (left: Self, right: Value) -> Condition<Object> { left.compare(.greater, right) }
    public static func >= (left: Self, right: Value) -> Condition<Object> { left.compare(.greaterOrEqual, right) }
}

// MARK: Optional scalars

extension Field {
    public static func == <Wrapped: MergedScalar>(
        left: Self, right: Wrapped?
    ) -> Condition<Object> where Value == Wrapped? { left.compare(.equal, right) }

    public static func != <Wrapped: MergedScalar>(
        left: Self, right: Wrapped?
    ) -> Condition<Object> where Value == Wrapped? { left.compare(.notEqual, right) }

    /// Whether the property has one of the given values, which may include nil.
    public func isIn<Wrapped: MergedScalar>(
        _ values: some Sequence<Wrapped?>
    ) -> Condition<Object> where Value == Wrapped? { among(values) }

    /// Whether the property has a value that is less than `right`.
    public static func < <Wrapped: MergedScalar & Comparable>(
        left: Self, right: Wrapped
    ) -> Condition<Object> where Value == Wrapped? { left.compare(.less, right) }

    /// Whether the property has a value that is less than or equal to `right`.
    public static func <= <Wrapped: MergedScalar & Comparable>(
        left: Self, right: Wrapped
    ) -> Condition<Object> where Value == Wrapped? { left.compare(.lessOrEqual, right) }

    /// Whether the property has a value that is greater than `right`.
    public static func > <Wrapped: MergedScalar & Comparable>(
        left: Self, right: Wrapped
    ) -> Condition<Object> where Value == Wrapped? { left.compare(.greater, right) }

    /// Whether the property has a value that is greater than or equal to `right`.
    public static func >= <Wrapped: MergedScalar & Comparable>(
        left: Self, right: Wrapped
    ) -> Condition<Object> where Value == Wrapped? { left.compare(.greaterOrEqual, right) }
}

// MARK: Texts, sets and counters

extension Field where Value == String {
    /// Whether the property's text contains `text`. Case and accents are ignored. Every text contains the empty text.
    public func contains(_ text: String) -> Condition<Object> { Condition(.containsText(column, text)) }
}

extension Field where Value == String? {
    /// Whether the property has a text that contains `text`. Case and accents are ignored.
    public func contains(_ text: String) -> Condition<Object> { Condition(.containsText(column, text)) }
}

extension Field where Value == MergedText {
    /// Whether the property's text contains `text`. Case and accents are ignored. Searching with ``LocalStore/search(_:limit:)`` is
    /// much faster, because it uses an index.
    public func contains(_ text: String) -> Condition<Object> { Condition(.containsText(column, text)) }
}

extension Field {
    /// Whether the set contains an element.
    public func contains<Element: MergedElement>(
        _ element: Element
    ) -> Condition<Object> where Value == MergedSet<Element> {
        guard let register = try? ElementRegister(element) else {
            return Condition(.invalid("A set contains only IDs, texts and whole numbers within ±(2^53 - 1)."))
        }
        let id = MergedSet<Element>.isResolved ? UniqueID(register.key) : nil
        return Condition(.containsElement(column, key: register.key, id: id))
    }
}

extension Field where Value == Counter {
    public static func == (left: Self, right: Int) -> Condition<Object> { left.compare(.equal, right) }
    public static func != (left: Self, right: Int) -> Condition<Object> { left.compare(.notEqual, right) }
    public static func < (left: Self, right: Int) -> Condition<Object> { left.compare(.less, right) }
    public static func <= (left: Self, right: Int) -> Condition<Object> { left.compare(.lessOrEqual, right) }
    public static func > (left: Self, right: Int) -> Condition<Object> { left.compare(.greater, right) }
    public static func >= (left: Self, right: Int) -> Condition<Object> { left.compare(.greaterOrEqual, right) }
}

extension Field {
    private func compare(_ comparison: Expression.Operator, _ value: some Encodable) -> Condition<Object> {
        guard let value = try? ScalarCoder.value(value) else {
            return Condition(
                .invalid("A value in the query is out of range: numbers must be finite and within ±(2^53 - 1)."))
        }
        return Condition(.compare(column, comparison, value))
    }

    private func among(_ values: some Sequence<some Encodable>) -> Condition<Object> {
        guard let values = try? values.map({ try ScalarCoder.value($0) }) else {
            return Condition(
                .invalid("A value in the query is out of range: numbers must be finite and within ±(2^53 - 1)."))
        }
        return Condition(.isIn(column, values))
    }
}
