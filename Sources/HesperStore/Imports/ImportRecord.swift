import HesperModel

/// An import of notes, which the server executes for an account (protocol.md, Imports). An account has at most one import.
public struct ImportRecord: Sendable, Equatable {
    /// The states of an import, in their order.
    public enum State: String, Sendable, CaseIterable {
        /// The client is uploading the file.
        case uploading
        /// The file is complete. The server reads it to count its contents.
        case reading
        /// The contents were counted. The client can start the import.
        case ready
        /// The server writes the notes.
        case writing
        case done
        /// The file cannot be imported.
        case failed

        /// Whether the server still has the bytes of the file.
        public var hasBytes: Bool { self != .done && self != .failed }
    }

    /// The ID of the import. The upload of the file in the ``UploadStage`` has the same ID.
    public let uniqueID: UniqueID
    /// The name of the file or folder that the user selected; nil for an archive of unrelated files.
    public let name: String?
    /// The size of the file in bytes.
    public let byteCount: Int64
    public let creationDate: Timestamp
    /// The device that requested the import. It counts as the sender of the notes.
    public var requestedBy: NodeID
    public var state: State
    /// The number of completed steps of the current state.
    public var done: Int64 = 0
    /// The total number of steps of the current state; 0 if it is not known yet.
    public var total: Int64 = 0
    /// The number of times that a server began the work of the current state, but was killed before the work was done.
    public var attempts: Int64 = 0
    /// The contents of the file, as JSON; nil until they were counted.
    public var preview: String?
    /// The result of the import, as JSON; nil until it is done.
    public var report: String?
    /// The reason why the import failed, as a sentence.
    public var problem: String?

    public init(
        uniqueID: UniqueID, name: String?, byteCount: Int64, creationDate: Timestamp, requestedBy: NodeID,
        state: State = .uploading
    ) {
        self.uniqueID = uniqueID
        self.name = name
        self.byteCount = byteCount
        self.creationDate = creationDate
        self.requestedBy = requestedBy
        self.state = state
    }
}

/// An import that is neither done nor failed.
public struct UnfinishedImport: Sendable, Equatable {
    public let scope: ScopeID
    public let uniqueID: UniqueID
    public let state: ImportRecord.State

    public init(scope: ScopeID, uniqueID: UniqueID, state: ImportRecord.State) {
        (self.scope, self.uniqueID, self.state) = (scope, uniqueID, state)
    }
}
