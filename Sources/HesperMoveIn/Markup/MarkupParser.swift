import CXML2
import Foundation

/// Receives the elements and the text that a ``MarkupParser`` reads.
protocol MarkupHandler: AnyObject {
    func start(_ name: String, _ attributes: [String: String])
    func end(_ name: String)
    /// Adds text in UTF-8. A text may arrive in several pieces.
    func add(_ text: UnsafeBufferPointer<UInt8>)
}

/// Parses XML or HTML in pieces with libxml2, and passes elements and text to a handler. No tree is built.
///
/// Documents are not trusted. Other files, such as external document types, are not loaded. In XML, only the five predefined
/// entities are known, and the declaration of an entity stops the parser. In HTML, the entities of HTML 4 are known. The nesting
/// depth is limited. The size limits of libxml2 apply, because `XML_PARSE_HUGE` is not set.
final class MarkupParser {
    enum Language {
        case xml
        /// - Parameter isUTF8: whether the document is known to be in UTF-8. If false, libxml2 uses the encoding that the
        ///   document states.
        case html(isUTF8: Bool)
    }

    /// The maximum nesting depth of elements.
    static let maximumDepth = 256

    private let handler: any MarkupHandler
    private let isXML: Bool
    private var context: xmlParserCtxtPtr?
    private var depth = 0
    /// The reason why parsing ended before the end of the document, as a sentence; nil if there is none.
    private(set) var problem: String?

    init(_ language: Language, _ handler: any MarkupHandler) {
        self.handler = handler
        isXML = if case .xml = language { true } else { false }
        var callbacks = xmlSAXHandler()
        callbacks.initialized = xml2_handler_version()
        // Without this handler, libxml2 would print errors on stderr.
        callbacks.serror = { _, _ in }
        let text: charactersSAXFunc = { parser, bytes, count in
            guard let bytes, count > 0 else { return }
            MarkupParser.of(parser)?.handler.add(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        callbacks.characters = text
        callbacks.cdataBlock = text
        callbacks.ignorableWhitespace = text
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        switch language {
        case .xml:
            callbacks.startElementNs = { parser, name, _, _, _, _, count, _, attributes in
                MarkupParser.of(parser)?.start(name, MarkupParser.attributes(attributes, count))
            }
            callbacks.endElementNs = { parser, name, _, _ in MarkupParser.of(parser)?.end(name) }
            callbacks.entityDecl = { parser, _, _, _, _, _ in
                MarkupParser.of(parser)?.stop("It declares entities, which are not allowed.")
            }
            context = xmlCreatePushParserCtxt(&callbacks, pointer, nil, 0, nil)
            if let context { xmlCtxtUseOptions(context, Int32(bitPattern: XML_PARSE_NONET.rawValue)) }
        case .html(let isUTF8):
            callbacks.startElement = { parser, name, attributes in
                MarkupParser.of(parser)?.start(name, MarkupParser.attributes(attributes))
            }
            callbacks.endElement = { parser, name in MarkupParser.of(parser)?.end(name) }
            let encoding = isUTF8 ? XML_CHAR_ENCODING_UTF8 : XML_CHAR_ENCODING_NONE
            context = htmlCreatePushParserCtxt(&callbacks, pointer, nil, 0, nil, encoding)
            if let context { htmlCtxtUseOptions(context, Int32(bitPattern: HTML_PARSE_NONET.rawValue)) }
        }
        if context == nil { problem = "Out of memory." }
    }

    deinit {
        if isXML { xmlFreeParserCtxt(context) } else { htmlFreeParserCtxt(context) }
    }

    /// Parses the next bytes. Does nothing if there is a ``problem``.
    func parse(_ bytes: UnsafeRawBufferPointer) { parse(bytes, isLast: false) }

    /// Parses the end of the document.
    func finish() { parse(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) }

    private func parse(_ bytes: UnsafeRawBufferPointer, isLast: Bool) {
        guard problem == nil, let context else { return }
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        let count = Int32(clamping: bytes.count)
        if isXML {
            xmlParseChunk(context, start, count, isLast ? 1 : 0)
        } else {
            htmlParseChunk(context, start, count, isLast ? 1 : 0)
        }
        // In HTML, all errors except lack of memory are ignored.
        guard problem == nil,
            isXML ? context.pointee.wellFormed == 0 : context.pointee.errNo == Int32(XML_ERR_NO_MEMORY.rawValue)
        else { return }
        let error = xmlCtxtGetLastError(context)
        let message = error?.pointee.message.map { String(cString: $0) } ?? "unknown error"
        let line = error?.pointee.line ?? 0
        problem = "It is not valid: \(message.trimmingCharacters(in: .whitespacesAndNewlines)), in line \(line)."
    }

    /// Ends parsing early.
    /// - Parameter problem: the reason, as a sentence.
    func stop(_ problem: String) {
        if self.problem == nil { self.problem = problem }
        xmlStopParser(context)
    }

    /// The approximate number of bytes of the document that have been parsed.
    var position: Int { context.map { Int(xmlByteConsumed($0)) } ?? 0 }

    // MARK: Callbacks

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> MarkupParser? {
        pointer.map { Unmanaged<MarkupParser>.fromOpaque($0).takeUnretainedValue() }
    }

    private func start(_ name: UnsafePointer<xmlChar>?, _ attributes: [String: String]) {
        guard problem == nil, let name else { return }
        depth += 1
        guard depth <= MarkupParser.maximumDepth else {
            return stop("Its elements are nested more than \(MarkupParser.maximumDepth) levels deep.")
        }
        handler.start(String(cString: name), attributes)
    }

    private func end(_ name: UnsafePointer<xmlChar>?) {
        guard problem == nil, let name else { return }
        depth -= 1
        handler.end(String(cString: name))
    }

    /// The attributes of an XML element. libxml2 passes five pointers for each attribute: three names, and the beginning and end of
    /// the value.
    private static func attributes(
        _ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int32
    ) -> [String: String] {
        guard let pointers else { return [:] }
        var attributes: [String: String] = [:]
        for index in 0..<Int(count) {
            guard let name = pointers[index * 5], let start = pointers[index * 5 + 3], let end = pointers[index * 5 + 4]
            else { continue }
            attributes[String(cString: name)] = String(
                decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)
        }
        return attributes
    }

    /// The attributes of an HTML element. libxml2 passes names and values alternately, and nil at the end.
    private static func attributes(
        _ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    ) -> [String: String] {
        guard let pointers else { return [:] }
        var attributes: [String: String] = [:]
        var index = 0
        while let name = pointers[index] {
            attributes[String(cString: name).lowercased()] = pointers[index + 1].map { String(cString: $0) } ?? ""
            index += 2
        }
        return attributes
    }
}
