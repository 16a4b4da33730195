import Foundation

/// The folders `.hesper/trash/<date>/`. They contain the files of notes and attachments that were deleted on other devices. They
/// also contain replaced contents of files, if these contents are stored nowhere else.
struct Trash {
    static let path = "\(Marker.folderName)/trash"
    private static let days = 30.0

    let folder: Folder

    /// Moves a file to the trash.
    /// - Returns: the path of the file in the trash.
    func add(_ path: String, named name: String? = nil, at date: Date = Date()) throws -> String {
        let place = "\(Trash.path)/\(Trash.day(date))/\(name ?? path)"
        if try folder.move(path, to: place) { return place }
        let parts = NotePath.parts(of: place)
        for number in 2...10_000 {
            let place = "\(parts.stem) \(number)\(parts.ending)"
            if try folder.move(path, to: place) { return place }
        }
        throw Folder.Failure(path: path, code: EEXIST)
    }

    /// Saves bytes in the trash.
    func add(_ bytes: Data, named name: String, at date: Date) throws {
        let spare = "\(Folder.temporary)/\(UUID().uuidString).late"
        guard try folder.create(spare, bytes) != nil else { throw Folder.Failure(path: spare, code: EEXIST) }
        _ = try add(spare, named: name, at: date)
    }

    /// Handles the temporary files of a killed process. A file with bytes that are stored nowhere else is moved to the trash. Other
    /// files are removed.
    /// - Parameter isKnown: returns whether bytes with this hash are stored elsewhere.
    func takeTemporaryFiles(unless isKnown: (String) -> Bool) throws {
        let manager = FileManager.default
        for name in (try? manager.contentsOfDirectory(atPath: "\(folder.path)/\(Folder.temporary)")) ?? [] {
            if name.hasSuffix(Folder.part) {
                folder.removeTemporary(name)
                continue
            }
            if let (bytes, _) = try? folder.read("\(Folder.temporary)/\(name)"), isKnown(FileText.hash(bytes)) {
                folder.removeTemporary(name)
                continue
            }
            _ = try add("\(Folder.temporary)/\(name)", named: "interrupted/\(name).md")
        }
    }

    /// Removes files that have been in the trash for more than 30 days.
    func removeOld(at date: Date = Date()) {
        let oldest = Trash.day(date.addingTimeInterval(-Trash.days * 86_400))
        let manager = FileManager.default
        for day in (try? manager.contentsOfDirectory(atPath: "\(folder.path)/\(Trash.path)")) ?? [] where day < oldest {
            // Folders with other names were not made by the mirror, and stay.
            guard day.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil else { continue }
            try? manager.removeItem(atPath: "\(folder.path)/\(Trash.path)/\(day)")
        }
    }

    private static func day(_ date: Date) -> String { String(date.ISO8601Format().prefix(10)) }
}
