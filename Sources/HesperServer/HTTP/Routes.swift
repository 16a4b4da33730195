import Foundation
import HTTPTypes
import HesperStore
import Hummingbird

/// All routes of the server: the one list from which requests find their handler, `HEAD`, `OPTIONS` and `405` know what
/// is there, and a test compares with `openapi.yaml`.
///
///     var routes = Routes()
///     routes.get("/v1/notes/{uniqueID}", use: getNote)
///     routes.get("/v1/changes", ["since", "limit"], use: listChanges)
///     routes.post("/v1/sync", keeping: .never, use: sync)
struct Routes: Sendable {
    /// The routes of one path.
    struct Path: Sendable {
        let template: String
        /// Its parts between slashes; nil for a parameter.
        let segments: [Substring?]
        var routes: [Route] = []
        /// What an answer to `OPTIONS` says besides.
        var options = HTTPFields()

        func route(_ method: HTTPRequest.Method) -> Route? {
            if let route = routes.first(where: { $0.method == method }) { return route }
            return method == .head ? routes.first { $0.method == .get } : nil
        }

        /// What `Allow` says.
        var allowed: String {
            var methods = routes.map(\.method.rawValue)
            if let index = methods.firstIndex(of: "GET"), !methods.contains("HEAD") {
                methods.insert("HEAD", at: index + 1)
            }
            return (methods + ["OPTIONS"]).joined(separator: ", ")
        }
    }

    /// Paths without a parameter, by themselves.
    private var fixed: [String: Path] = [:]
    /// Paths with one, by how many parts they have.
    private var templates: [Int: [Path]] = [:]

    /// Paths that nothing else has, and that come and go while the server runs.
    private var pages: (path: Path, areThere: @Sendable (String) -> Bool)?

    /// Of requests that found no route.
    let unknown = RouteMeter(method: "", path: "")

    var meters: [RouteMeter] { all.map(\.meter) + [unknown] }

    var all: [Route] {
        (Array(fixed.values) + templates.values.joined()).flatMap(\.routes) + (pages?.path.routes ?? [])
    }

    /// The path that a request means, and what stands in the place of its parameter.
    func find(_ path: String) -> (path: Path, parameter: String)? {
        if let path = fixed[path] { return (path, "") }
        let segments = path.dropFirst().split(separator: "/", maxSplits: 15, omittingEmptySubsequences: false)
        for candidate in templates[segments.count] ?? [] {
            var parameter: Substring = ""
            let matches = zip(candidate.segments, segments).allSatisfy { expected, actual in
                if let expected { return expected == actual }
                parameter = actual
                return !actual.isEmpty
            }
            if matches { return (candidate, parameter.removingPercentEncoding ?? String(parameter)) }
        }
        if let pages, pages.areThere(path) { return (pages.path, path) }
        return nil
    }

    /// Has `OPTIONS` of a path, which has routes already, say more than its methods.
    mutating func announce(_ options: HTTPFields, at template: String) {
        for (count, paths) in templates {
            if let index = paths.firstIndex(where: { $0.template == template }) {
                templates[count]?[index].options = options
            }
        }
    }

    mutating func add(_ route: Route) {
        let segments: [Substring?] = route.path.dropFirst().split(separator: "/").map { $0.hasPrefix("{") ? nil : $0 }
        if segments.allSatisfy({ $0 != nil }) {
            fixed[route.path, default: Path(template: route.path, segments: segments)].routes.append(route)
        } else if let index = templates[segments.count]?.firstIndex(where: { $0.template == route.path }) {
            templates[segments.count]?[index].routes.append(route)
        } else {
            let path = Path(template: route.path, segments: segments, routes: [route])
            templates[segments.count, default: []].append(path)
        }
    }
}

/// A noun of the API with the routes that are about it.
protocol Resource: Sendable {
    func add(to routes: inout Routes)
}

// MARK: - For whoever is signed in

extension Routes {
    typealias SignedIn = @Sendable (Call, Session) async throws -> Response

    mutating func on(
        _ method: HTTPRequest.Method, _ path: String, _ parameters: [String] = [],
        keeping: Route.Keeping = .revalidated, use handler: @escaping SignedIn
    ) {
        add(
            Route(
                method: method, path: path, parameters: parameters, keeping: keeping, isInContract: true,
                handler: .signedIn(handler)))
    }

    mutating func get(
        _ path: String, _ parameters: [String] = [], keeping: Route.Keeping = .revalidated,
        use handler: @escaping SignedIn
    ) {
        on(.get, path, parameters, keeping: keeping, use: handler)
    }

    mutating func post(
        _ path: String, _ parameters: [String] = [], keeping: Route.Keeping = .revalidated,
        use handler: @escaping SignedIn
    ) {
        on(.post, path, parameters, keeping: keeping, use: handler)
    }

    mutating func put(_ path: String, keeping: Route.Keeping = .revalidated, use handler: @escaping SignedIn) {
        on(.put, path, keeping: keeping, use: handler)
    }

    mutating func patch(_ path: String, keeping: Route.Keeping = .revalidated, use handler: @escaping SignedIn) {
        on(.patch, path, keeping: keeping, use: handler)
    }

    mutating func delete(_ path: String, keeping: Route.Keeping = .revalidated, use handler: @escaping SignedIn) {
        on(.delete, path, keeping: keeping, use: handler)
    }
}

// MARK: - For anybody

extension Routes {
    mutating func open(
        _ method: HTTPRequest.Method, _ path: String, _ parameters: [String] = [], keeping: Route.Keeping,
        isInContract: Bool = true, use handler: @escaping @Sendable (Call) async throws -> Response
    ) {
        add(
            Route(
                method: method, path: path, parameters: parameters, keeping: keeping, isInContract: isInContract,
                handler: .open(handler)))
    }

    /// Pages under whatever path there is one, which is the parameter of the call as it stands in the address.
    mutating func pages(
        ifThere areThere: @escaping @Sendable (String) -> Bool,
        use handler: @escaping @Sendable (Call) async throws -> Response
    ) {
        let route = Route(
            method: .get, path: "/{page}", parameters: [], keeping: .ours, isInContract: false,
            handler: .page(handler))
        pages = (Path(template: route.path, segments: [], routes: [route]), areThere)
    }
}
