/// The edits of a parcel as JSON: an array of `[attribute, clock, value]`, in the order of the edits.
///
/// The clock is null for attributes that are set once. A date is written as `{"date": …}`, to distinguish it from a string. The
/// value is absent if thinning dropped it.
///
///     [["text","2026-11-21T08:47:12.345Z-0003-9f86d081884c7d65","Milk"],["creationDate",null,{"date":"2026-…"}]]
public enum ParcelBody {
    public static func write(_ edits: [Edit]) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.array { writer in
            for edit in edits {
                writer.array { writer in
                    writer.string(edit.attribute.description)
                    if let clock = edit.clock { writer.clock(clock) } else { writer.write(.null) }
                    switch edit.value {
                    case .date(let date)?:
                        writer.object { writer in
                            writer.name("date")
                            writer.date(date)
                        }
                    case let value?: writer.write(value.json)
                    case nil: break
                    }
                }
            }
        }
        return writer.bytes
    }
}
