@testable import HesperModel

/// When the token has expired, a device keeps everything, reads from the start, and gives back what the server lacks
/// (protocol.md, Sync).
extension ModelDevice {
    mutating func startOver(_ server: ModelServer) throws {
        var server = server  // An empty push changes nothing.
        token = nil
        guard let response = try server.sync(Push(), since: nil) else { return }
        let mine = copy
        let myDeletions = deleted
        startedOver = true
        process(response, to: Push())
        let theirDeletions = Dictionary(uniqueKeysWithValues: response.deleted.map { ($0.uniqueID, $0) })
        // If the server's DeletedObject has no target but this device's has one, the device's is given back.
        for deletion in myDeletions.values where deletion.isLacking(in: theirDeletions[deletion.uniqueID]) {
            givenBack.append(
                .deletion(
                    Deletion(
                        uniqueID: deletion.uniqueID, objectType: deletion.objectType, mergedInto: deletion.mergedInto,
                        rescuedInto: deletion.rescuedInto, deletionDate: deletion.deletionDate)))
        }
        var theirs: [UniqueID: Entity] = [:]
        for object in response.objects {
            theirs[object.id] = try object.body.withUnsafeBytes {
                try Entity.read($0, id: object.id, section: object.section)
            }
        }
        for (id, entity) in mine where theirDeletions[id] == nil {
            let lacking = ModelDevice.edits(in: entity.body, id, entity.section).filter { edit in
                guard let clock = edit.clock else { return theirs[id] == nil }
                if edit.attribute == .text { return theirs[id]?.register(.text)?.clock != clock }
                return theirs[id]?.register(edit.attribute).map { $0.clock < clock } ?? true
            }
            guard !lacking.isEmpty else { continue }
            let text = lacking.first { $0.attribute == .text }?.clock
            givenBack.append(
                .change(Change(uniqueID: id, section: entity.section, edits: lacking, textBase: text, textAfter: [])))
        }
    }
}

extension DeletedObject {
    fileprivate func isLacking(in current: DeletedObject?) -> Bool {
        guard var folded = current else { return true }
        _ = folded.fold(self)
        return folded.mergedInto != current?.mergedInto || folded.rescuedInto != current?.rescuedInto
    }
}
