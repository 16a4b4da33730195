import HesperClient
import HesperModel
import Testing

@Suite struct LinkServerProblemTests {
    private func problem(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> ServerProblem {
        ServerProblem(ServerResponse(status: status, headers: headers, body: Array(body.utf8)))
    }

    @Test func allMembers() {
        let body = """
            {"type": "/problems/quota-exceeded", "slug": "quota-exceeded", "title": "Full", "status": 507,
             "detail": "No.", "pointer": "/changes/notes/0", "limit": 100, "used": 99, "requestID": "r1"}
            """
        let problem = problem(507, body, ["x-request-id": "r2"])
        #expect(problem.kind == .quotaExceeded)
        #expect(problem.status == 507)
        #expect(problem.title == "Full")
        #expect(problem.detail == "No.")
        #expect(problem.pointer == "/changes/notes/0")
        #expect(problem.limit == 100)
        #expect(problem.used == 99)
        #expect(problem.requestID == "r1")
        #expect(problem.retryAfter == nil)
    }

    @Test func everySlugOfTheModelIsKnown() {
        for slug in Problem.Slug.allCases {
            let sent = Problem(slug, "Detail.", at: "x", context: ["retryAfter": 3])
            let read = ServerProblem(ServerResponse(status: slug.status, body: sent.json.bytes))
            #expect(read.kind == slug)
            #expect(read.detail == "Detail.")
            #expect(read.retryAfter == 3)
        }
    }

    @Test func aSlugThatIsNotKnown() {
        let problem = problem(418, #"{"slug": "teapot", "detail": "Short and stout."}"#)
        #expect(problem.kind == nil)
        #expect(problem.slug == "teapot")
        #expect(problem.detail == "Short and stout.")
    }

    @Test(arguments: [
        (502, "unavailable"), (503, "unavailable"), (504, "unavailable"), (500, "unexpected"), (302, "unexpected"),
    ])
    func theErrorOfAProxy(status: Int, slug: String) {
        for body in ["", "<html>", "[1]", #"{"slug": 1}"#] { #expect(problem(status, body).slug == slug) }
    }

    @Test(arguments: [("5", 5), ("0", 0), ("-5", 0), ("1000000000", 86_400), ("Wed, 21 Oct 2026 07:28:00 GMT", nil)])
    func retryAfter(header: String, seconds: Int?) {
        #expect(problem(503, "", ["retry-after": header]).retryAfter == seconds)
    }
}
