import Foundation

/// The factor by which a test may find more memory in use than Hesper needs itself. A sanitizer shadows all memory and keeps
/// some freed memory; `Tools/sanitize.sh` sets the factor in `HESPER_TEST_MEMORY`. The default is 1.
public enum MemoryAllowance {
    public static let factor = ProcessInfo.processInfo.environment["HESPER_TEST_MEMORY"].flatMap { Int($0) } ?? 1
}
