internal import Foundation
internal import HesperModel

extension LocalStore {
    /// The texts that a note has had, newest first, read from the server's history. Old versions that the server no longer has are
    /// left out.
    /// - Throws: ``AccountError``; ``AccountError/wrongPassword`` if the device is signed out.
    public func formerTexts(of id: ObjectID<Note>) async throws -> [String] {
        try await formerTexts(of: id, \.$text)
    }

    /// The texts that a property of an object has had, newest first, read from the server's history. Old versions that the server no
    /// longer has are left out.
    ///
    ///     let texts = try await store.formerTexts(of: soup.id, \.$method)
    ///
    /// - Throws: ``AccountError``; ``AccountError/wrongPassword`` if the device is signed out.
    public func formerTexts<Object: SyncedObject>(
        of id: ObjectID<Object>, _ property: KeyPath<Object, Merged<MergedText>>
    ) async throws -> [String] {
        let attribute = Shape<Object>.shared.probe[keyPath: property].name
        let session = try await database.performRead { try $0.session }
        guard let session, let token = session.token else { throw AccountError.wrongPassword }
        let transport = makeTransport(session.server)
        var texts: [String] = []
        var cursor: String?
        repeat {
            let query = cursor.flatMap { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) }
            let section = TypeName.section(of: Object.objectType)
            let path = "/v1/\(section)/\(id)/edits?limit=500" + (query.map { "&cursor=\($0)" } ?? "")
            let response: ServerResponse
            do throws(NoResponse) {
                response = try await transport.send(ServerRequest("GET", path, token: token))
            } catch {
                throw AccountError.offline(error.description)
            }
            // An object that was not sent yet has no history.
            if response.status == 404 { return [] }
            guard response.isSuccess, let page = try? JSONReader.read(response.body) else {
                throw AccountError(ServerProblem(response))
            }
            for edit in page["edits"]?.elements ?? [] where edit["attribute"]?.string == attribute {
                if let text = edit["value"]?.string { texts.append(text) }
            }
            cursor = page["nextCursor"]?.string
        } while cursor != nil
        return texts
    }
}
