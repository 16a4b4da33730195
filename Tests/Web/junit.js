// A reporter for node's test runner that writes JUnit, which Tools/count-tests.py reads: node 18 has none of its own.
//   node --test --test-reporter spec --test-reporter-destination stdout \
//     --test-reporter ./Tests/Web/junit.js --test-reporter-destination web.xml Tests/Web/*.test.js
import {basename} from "node:path"

const escape = text => String(text).replace(/[<>&"\0-\x08\x0b\x0c\x0e-\x1f]/g, sign =>
  sign < " " ? "?" : `&#${sign.charCodeAt(0)};`)

const caseOf = (type, {name, file, skip, details}) => {
  const place = `classname="${escape(file ? basename(file) : "web")}" name="${escape(name)}"`
  const seconds = ((details?.duration_ms ?? 0) / 1000).toFixed(3)
  const error = details?.error?.cause ?? details?.error
  const body = type === "test:fail" ? `<failure message="${escape(error?.message ?? error)}"/>`
    : skip !== undefined ? "<skipped/>" : ""
  return `<testcase ${place} time="${seconds}">${body}</testcase>\n`
}

export default async function* report(source) {
  yield "<testsuites><testsuite name=\"web\">\n"
  for await (const {type, data} of source) {
    // A test inside of another fails that one, too; a file that does not even load is told as a test that failed.
    if (data?.nesting === 0 && (type === "test:pass" || type === "test:fail")) yield caseOf(type, data)
  }
  yield "</testsuite></testsuites>\n"
}
