// A reporter for Node's test runner that writes JUnit files for Tools/count-tests.py. Node 18 has none.
//   node --test --test-reporter spec --test-reporter-destination stdout \
//     --test-reporter ./Tests/Web/junit.js --test-reporter-destination web.xml Tests/Web/*.test.js
import {basename} from "node:path"

const escape = text => String(text).replace(/[<>&"\0-\x08\x0b\x0c\x0e-\x1f]/g, character =>
  character < " " ? "?" : `&#${character.charCodeAt(0)};`)

const caseOf = (type, {name, file, skip, details}) => {
  const attributes = `classname="${escape(file ? basename(file) : "web")}" name="${escape(name)}"`
  const seconds = ((details?.duration_ms ?? 0) / 1000).toFixed(3)
  const error = details?.error?.cause ?? details?.error
  const body = type === "test:fail" ? `<failure message="${escape(error?.message ?? error)}"/>`
    : skip !== undefined ? "<skipped/>" : ""
  return `<testcase ${attributes} time="${seconds}">${body}</testcase>\n`
}

export default async function* report(source) {
  yield "<testsuites><testsuite name=\"web\">\n"
  for await (const {type, data} of source) {
    // Failures of inner tests also fail the outer test. A file that cannot be loaded is reported as a failed test.
    if (data?.nesting === 0 && (type === "test:pass" || type === "test:fail")) yield caseOf(type, data)
  }
  yield "</testsuite></testsuites>\n"
}
