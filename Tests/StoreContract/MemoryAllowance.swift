import Foundation

/// How many times the memory that Hesper itself takes a test may find taken: a sanitizer has a shadow of all memory, and keeps
/// some of what was freed. Tools/sanitize.sh says so (`HESPER_TEST_MEMORY`); otherwise once.
public enum MemoryAllowance {
    public static let factor = ProcessInfo.processInfo.environment["HESPER_TEST_MEMORY"].flatMap { Int($0) } ?? 1
}
