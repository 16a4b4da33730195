import Foundation
import HesperStore

/// Waits on the thread: inside a snapshot's body nothing can be awaited.
enum Pause {
    static func millisecond() { Thread.sleep(forTimeInterval: 0.001) }
}

extension Desk {
    /// Where the scope stands by now, whatever snapshot one is in; 0 if it cannot be told.
    var sequence: Int64 { (try? store.session(of: token))?.head.sequence ?? 0 }
}
