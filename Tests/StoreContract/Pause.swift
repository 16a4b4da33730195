import Foundation

/// Waits on the thread: inside a snapshot's body nothing can be awaited.
public enum Pause {
    public static func millisecond() { Thread.sleep(forTimeInterval: 0.001) }
}
