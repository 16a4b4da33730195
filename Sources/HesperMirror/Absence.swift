import Foundation

/// The time since which the file of a note or attachment has been missing, and the number of scans of the folder in which it was
/// missing. If the file does not return, the note or attachment is deleted.
struct Absence: Codable, Equatable, Sendable {
    /// The time of the first scan in which the file was missing, in seconds since 1970.
    let since: Double
    /// The number of scans in which the file was missing.
    let scans: Int

    /// The time of the first scan in which the file was missing, as a date.
    var date: Date { Date(timeIntervalSince1970: since) }

    /// The minimum time for which a file must be missing before its note or attachment is deleted, in seconds.
    static let minimumTime = 300.0
    /// The minimum number of scans in which a file must be missing before its note or attachment is deleted.
    static let minimumScans = 2
    /// Deletions must be confirmed if the number of missing files is greater than this limit and greater than a tenth
    /// of all files.
    static let limit = 10

    /// Counts one more scan in which a file was missing.
    /// - Parameter absence: the record of the earlier scans; nil if the previous scan found the file.
    static func counting(_ absence: Absence?, at now: Double) -> Absence {
        // If the clock was set back to a time before the first scan, the absence is counted from the current time.
        Absence(since: min(absence?.since ?? now, now), scans: (absence?.scans ?? 0) + 1)
    }

    /// Whether the file has been missing for the minimum time and in the minimum number of scans. The current scan, in which the
    /// file is missing too, is counted.
    func isDue(at now: Double) -> Bool { now - since >= Absence.minimumTime && scans + 1 >= Absence.minimumScans }

    static func areMany(_ missing: Int, of all: Int) -> Bool { missing > limit && missing * 10 > all }
}
