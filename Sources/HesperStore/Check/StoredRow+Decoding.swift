import HesperModel

/// Decoding of rows that hold model values. Each function documents the columns that it expects; both databases select them in
/// this order.
extension StoredRow {
    /// Decodes a row with the columns `uniqueID, email, password_hash, creation_date`, the ID of the scope,
    /// `email_verification_date, disabled_since`, in this order.
    public func account() throws -> Account {
        Account(
            uniqueID: try id(0), email: string(1), passwordHash: string(2), creationDate: timestamp(3),
            scope: scope(4), emailVerificationDate: timestampIfAny(5), disabledSince: timestampIfAny(6))
    }

    /// Decodes a row with the columns `node, account, name, app_version, user_agent, creation_date, last_use_date, read_date,
    /// last_use_address, token_scopes, token_expiry_date, token_tag`, in this order.
    public func device() throws -> Device {
        Device(
            node: try node(0), account: try id(1), name: string(2), appVersion: stringIfAny(3),
            userAgent: stringIfAny(4), creationDate: timestamp(5), lastUseDate: timestamp(6),
            lastUseAddress: stringIfAny(8), readDate: timestampIfAny(7), access: tokenAccess(from: 9))
    }

    private func tokenAccess(from column: Int32) -> TokenAccess? {
        guard let scopes = stringIfAny(column) else { return nil }
        return TokenAccess(
            scopeNames: scopes, expiryDate: timestampIfAny(column + 1), tag: idIfAny(column + 2))
    }

    /// Decodes a row with the columns `nonce, byte_count, sha256, arrival_date`, in this order.
    public func blob(of attachment: UniqueID, in scope: ScopeID) -> Blob {
        Blob(
            name: BlobName(scope: scope, attachment: attachment, nonce: UInt64(bitPattern: integer(0))),
            data: AttachmentData(byteCount: integer(1), sha256: string(2)), arrivalDate: timestamp(3))
    }

    /// Decodes a row with the columns `scope, attachment, nonce`, in this order.
    public func blobName() throws -> BlobName {
        BlobName(scope: scope(0), attachment: try id(1), nonce: UInt64(bitPattern: integer(2)))
    }

    /// Decodes a row with the columns `current_nonce, next_nonce, accepted_unknown, walk_date, files, bytes, unknown_files,
    /// unknown_bytes`, in this order.
    public func blobStoreRecord() -> BlobStoreRecord {
        let walk = timestampIfAny(3).map { date in
            BlobWalk(
                date: date, files: int(4), bytes: integer(5), unknownFiles: int(6), unknownBytes: integer(7))
        }
        return BlobStoreRecord(
            currentNonce: integerIfAny(0).map { UInt64(bitPattern: $0) },
            nextNonce: integerIfAny(1).map { UInt64(bitPattern: $0) }, walk: walk, acceptedUnknown: int(2))
    }

    /// Decodes a row with the columns `id, attachment, length, sha256, is_finished, creation_date`, in this order.
    public func upload() throws -> Upload {
        Upload(
            uniqueID: try id(0), attachment: try id(1), length: integerIfAny(2), sha256: stringIfAny(3),
            isFinished: bool(4), creationDate: timestamp(5))
    }

    /// Decodes the columns `parcel_bytes, blob_bytes, quota`, in this order. `first` is the index of the column `parcel_bytes`.
    public func storage(from first: Int32 = 0) -> Storage {
        Storage(
            parcelBytes: integer(first), attachmentBytes: integer(first + 1),
            quota: Quota(stored: integerIfAny(first + 2)))
    }

    /// Decodes the columns `type, merged_into, deletion_date`, in this order. `first` is the index of the column `type`. For
    /// deleted notes and deleted app objects, `merged_into` is the ID of the object that contains their rescued texts.
    public func deletedObject(id: UniqueID, from first: Int32 = 0) throws -> DeletedObject {
        let (type, target) = (try type(first), idIfAny(first + 1))
        return DeletedObject(
            uniqueID: id, objectType: type, mergedInto: type.hasTexts ? nil : target,
            rescuedInto: type.hasTexts ? target : nil, deletionDate: timestamp(first + 2))
    }

    /// Decodes a row that starts with the columns `text_clock, missing_ancestors, sequence`, in this order.
    public func textDescent() throws -> TextDescent {
        let bytes = bytes(1)
        let clocks = stride(from: 0, to: bytes.count - 15, by: 16).compactMap {
            Clock(bytes: UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + 16]))
        }
        return TextDescent(clock: try clock(0), missingAncestors: clocks, sequence: integer(2))
    }

    /// Decodes a row that starts with the columns `type, is_servers, text_origin, body`, in this order.
    public func parcel(of object: UniqueID) throws -> Parcel {
        Parcel(
            object: object, objectType: isNull(0) ? nil : try type(0), edits: try ParcelBody.read(bytes(3)),
            textOrigin: clockIfAny(2), isServerMade: bool(1))
    }
}

// MARK: - Rows for a check

extension StoredRow {
    /// Decodes a row with the columns `id, section, type, sequence, bytes, digest, body`, in this order.
    public func inspectedObject() throws -> InspectedObject {
        InspectedObject(
            id: try id(0), section: try? section(1), type: stringIfAny(2), sequence: integerIfAny(3), bytes: int(4),
            digest: digestIfAny(5), body: Array(bytes(6)))
    }

    /// Decodes a row with the columns `id, type, merged_into, deletion_date, sequence, bytes`, in this order.
    public func inspectedDeletedObject() throws -> InspectedDeletedObject {
        let id = try id(0)
        return InspectedDeletedObject(
            id: id, deleted: try? deletedObject(id: id, from: 1), sequence: integerIfAny(4), bytes: int(5))
    }

    /// Decodes a row with the columns in ``ParcelChecksum/columns``, in this order.
    public func inspectedParcel() throws -> InspectedParcel {
        let id = try id(4)
        return InspectedParcel(
            object: id, parcel: Result { try parcel(of: id) }, clocks: [clockIfAny(5), clockIfAny(6), clockIfAny(7)],
            textName: stringIfAny(15),
            bytes: bytes(3).count, matchesChecksum: parcelChecksum() == integer(14))
    }

    /// Decodes a row with the columns `object, member`, in this order.
    public func inspectedMember() throws -> InspectedMember {
        InspectedMember(object: try id(0), member: try id(1))
    }

    /// Decodes a row with the columns `tag, folded_name`, in this order.
    public func inspectedTagName() throws -> InspectedTagName {
        InspectedTagName(tag: try id(0), foldedName: string(1))
    }

    /// Decodes a row with the columns `note, sort_date, archived, text_clock`, in this order.
    public func inspectedDocument(hasTerms: @escaping (String) -> Bool) throws -> InspectedDocument {
        InspectedDocument(
            note: try id(0), sortDate: timestamp(1), archived: bool(2), textClock: clockIfAny(3), hasTerms: hasTerms)
    }

    /// Decodes a row with the columns `attachment, byte_count, sha256, unheld_since`, in this order.
    public func inspectedBlob() throws -> InspectedBlob {
        InspectedBlob(
            attachment: try id(0), data: AttachmentData(byteCount: integer(1), sha256: string(2)), isHeld: isNull(3))
    }
}
