/// An encoder for values that cannot be merged, such as arrays. Every attempt to encode a value throws
/// ``ScalarCoder/Refused``.
struct RefusingContainer: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { 0 }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer())
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() throws { throw ScalarCoder.Refused() }
    func encode<T: Encodable>(_ value: T) throws { throw ScalarCoder.Refused() }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer())
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { self }
}

/// The keyed container of ``RefusingContainer``, which throws in the same way.
struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw ScalarCoder.Refused() }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw ScalarCoder.Refused() }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(RefusingKeyedContainer<Nested>())
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
    func superEncoder() -> any Encoder { RefusingContainer() }
    func superEncoder(forKey key: Key) -> any Encoder { RefusingContainer() }
}
