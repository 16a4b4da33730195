import Foundation

/// Blocks the current thread, for use in synchronous bodies of snapshots and transactions.
public enum Pause {
    public static func millisecond() { Thread.sleep(forTimeInterval: 0.001) }
}
