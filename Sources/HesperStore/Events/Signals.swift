import HesperModel
import NIOCore

/// Sends signals between the servers that share a database. Delivery is not guaranteed: a server that misses a signal finds the
/// change when it polls the database.
public protocol Signals: Sendable {
    /// Sends signals to all other servers that are listening. Signals of the same kind arrive in the order in which they were
    /// sent. This function returns immediately and does not fail.
    func send(_ signals: [Signal])
    /// Receives signals from other servers until the task is cancelled. Only one task at a time may call this function.
    func listen(_ receive: @Sendable (SignalEvent) -> Void) async
}

/// A message from one server to all others.
public enum Signal: Sendable, Equatable {
    /// All commits of the scope up to this sequence number are visible to readers.
    case committed(ScopeID, Int64)
    /// A device sends a message, one line of JSON, to the other devices of its scope.
    case message(ScopeID, from: NodeID, ByteBuffer)
    /// The progress of the scope's import, one line of JSON.
    case importProgress(ScopeID, ByteBuffer)
    /// Devices of the scope were signed out, the account was disabled or enabled, or the account was deleted. The receivers read
    /// the details from the database.
    case sessionsChanged(ScopeID)
    /// The complete set of devices that listen to the scope on the sending server.
    case presence(ScopeID, Set<NodeID>)
    /// A device has begun to listen to the scope on the sending server.
    case joined(ScopeID, NodeID)
    /// A device no longer listens to the scope on the sending server.
    case left(ScopeID, NodeID)
    /// Requests that all servers send ``presence(_:_:)`` for all of their scopes.
    case presenceRequest
}

/// An event that ``Signals/listen(_:)`` reports.
public enum SignalEvent: Sendable, Equatable {
    case signal(Signal, from: ServerID)
    /// The connection is established and signals are received from now on. Earlier signals may have been missed.
    case connected
    /// The connection is lost, and no signals are received until ``connected``.
    case disconnected
    /// A message was received that is not a signal of this version. The text is an excerpt for the log.
    case unreadable(String)
}

/// The ID of a server process: 64 random bits.
public struct ServerID: Hashable, Sendable {
    public let rawValue: UInt64

    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    public static func random() -> ServerID { ServerID(.random(in: .min ... .max)) }
}
