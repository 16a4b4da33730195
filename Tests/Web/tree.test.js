import assert from "node:assert/strict"
import test from "node:test"
import {foldName} from "../../Public/js/model/search.js"
import {keyOf, tagTree} from "../../Public/js/model/tree.js"

const tree = (names, notes = []) => tagTree(names.map((name, at) => ({id: `${at}`, name, folded: foldName(name)})), notes)
const shown = names => tree(names).nodes.map(({label, level, tag}) => `${"  ".repeat(level - 1)}${label}${tag && ` ${tag}`}`)

test("names with slashes are below their parents, which need not be tags", () => {
  assert.deepEqual(shown(["Work/Mail", "work", "home/garden/beds", "Äpfel", "work b", "home/garden"]), [
    "home", "  garden 5", "    beds 2", "work 1", "  Mail 0", "work b 4", "Äpfel 3"])
  assert.deepEqual(shown(["a//b", "/c", "d/", "a"]), ["/c 1", "a 3", "a//b 0", "d/ 2"], "names with empty parts are whole")
  assert.deepEqual(shown(["a/b", "A/B", "a/c"]), ["a", "  b 0", "  c 2"], "tags that the server will merge are one")
})

test("a note is counted once for each name above its tags", () => {
  const {nodes, counts} = tree(["a/b", "a/c", "a/c/d", "e"], [["0", "1"], ["2"], ["2", "3"], []])
  assert.deepEqual(nodes.map(({name, count}) => [name, count]), [["a", 3], ["a/b", 1], ["a/c", 3], ["a/c/d", 2], ["e", 1]])
  assert.deepEqual([...counts], [["0", 1], ["1", 1], ["2", 2], ["3", 1]])
  assert.deepEqual(nodes.map(({ids}) => [...ids].join("")), ["012", "0", "12", "2", "3"])
  assert.deepEqual(nodes.map(({hasChildren}) => hasChildren), [true, false, true, false, false])
  assert.deepEqual([nodes[0].key, nodes[0].tag, nodes[1].key], [keyOf("a"), "", "0"])
})

test("keys are valid in addresses", () => {
  assert.equal(keyOf("home & garden/Äpfel?"), "~home%20%26%20garden%2F%C3%84pfel%3F")
})
