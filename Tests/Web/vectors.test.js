import assert from "node:assert/strict"
import {readFileSync} from "node:fs"
import test from "node:test"
import {check, KINDS} from "./vectors.js"

for (const kind of KINDS) {
  test(`vectors: ${kind}.json`, () => {
    const data = readFileSync(new URL(`../Vectors/${kind}.json`, import.meta.url), "utf8")
    const {passed, failures} = check(kind, JSON.parse(data))
    assert.deepEqual(failures, [])
    assert.ok(passed > 0)
  })
}
