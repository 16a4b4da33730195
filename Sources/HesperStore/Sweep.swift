/// What time removes is looked for object by object, each when something of it may be due (storage.md).
public enum Sweep {
    /// How long after a change an object is first looked at, in milliseconds; nothing is ever removed sooner.
    public static let firstLook: Int64 = 60 * 60 * 1_000
}
