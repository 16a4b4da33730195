// The Copy of the app with maps instead of IndexedDB, which Node does not have.
import {Copy} from "../../Public/js/store/copy.js"
import {edit} from "../../Public/js/store/records.js"

const keyOf = record => record.attribute === undefined ? record.uniqueID : `${record.uniqueID} ${record.attribute}`

export class FakeCopy extends Copy {
  limits = {textBytes: 1 << 20, tagNameBytes: 256, attributeValueBytes: 8192, attachmentBytes: 100 << 20, filenameBytes: 1024,
    previewBytes: 8192}
  stores = {}

  constructor() {
    super()
    this.transaction([], "readwrite", tx =>
      tx.put("meta", {account: {uniqueID: "a", email: "a@b.de"}, device: {uniqueID: "9f86d081884c7d65"}}, "session"))
  }

  async transaction(stores, mode, body) {
    const journal = []
    const mapOf = store => this.stores[store] ??= new Map()
    const tx = {
      atEnd: [], clock: null, digest: "",
      get: async (store, key) => mapOf(store).get(String(key)),
      getAllBy: async (store, index, id) => [...mapOf(store).values()].filter(record => record.uniqueID === id),
      put: (store, record, key) => {
        mapOf(store).set(String(key ?? keyOf(record)), structuredClone(record))
        journal.push({store, record, key: key ?? (store === "unsent" ? [record.uniqueID, record.attribute] : record.uniqueID)})
      },
    }
    const result = await body(tx)
    for (const task of tx.atEnd) await task()
    this.take(journal)
    return result
  }

  edit(type, id, attribute, value) {
    return this.transaction([], "readwrite", tx => edit(tx, type, id, attribute, value))
  }

  bytes = async id => this.stores.bytes?.get(id)?.blob
}
