import HesperStore

/// Writes metrics in the text format of Prometheus, version 0.0.4 (prometheus.io, Exposition formats).
///
///     var text = MetricsText()
///     text.gauge("hesper_event_streams", "Open streams of events.", 12)
struct MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    typealias Labels = [(name: String, value: String)]

    mutating func gauge(_ name: String, _ help: String, _ value: some Numeric & CustomStringConvertible) {
        family(name, "gauge", help)
        sample(name, [], value)
    }

    mutating func counter(_ name: String, _ help: String, _ value: some Numeric & CustomStringConvertible) {
        family(name, "counter", help)
        sample(name, [], value)
    }

    /// Writes the help text and the type of a metric. The samples of the metric must be written next.
    mutating func family(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    mutating func sample(_ name: String, _ labels: Labels, _ value: some Numeric & CustomStringConvertible) {
        text += name
        if !labels.isEmpty {
            text += "{"
            for (index, label) in labels.enumerated() {
                text += "\(index == 0 ? "" : ",")\(label.name)=\"\(MetricsText.quoted(label.value))\""
            }
            text += "}"
        }
        text += " \(value)\n"
    }

    /// Writes the samples of a histogram: a count for each bucket, the sum of all values and the number of values. The count of a
    /// bucket includes the counts of all smaller buckets.
    mutating func histogram(_ name: String, _ labels: Labels, _ histogram: Histogram) {
        var sofar = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            sofar += count
            // A bound that is a whole number is written without a fraction, as `1` and not as `1.0`. Prometheus writes it in the
            // same way.
            let text = bound == bound.rounded() ? String(Int(bound)) : String(bound)
            sample("\(name)_bucket", labels + [("le", text)], sofar)
        }
        sample("\(name)_bucket", labels + [("le", "+Inf")], histogram.count)
        sample("\(name)_sum", labels, histogram.sum)
        sample("\(name)_count", labels, histogram.count)
    }

    private static func quoted(_ value: String) -> String {
        value.reduce(into: "") { text, letter in
            switch letter {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(letter)
            }
        }
    }
}
