// Pictures and files of a note: taken in, shown small and in full, downloaded, taken out again.

import { byteText, copyOf, fill, h, icon, iconButton, plural, set } from "./dom.js"
import { problemView, save } from "./widgets.js"

// Browsers only show these; in all else something could run.
const isPicture = ({ mimeType }) => /^image\/(jpeg|png|gif|webp|avif|bmp|hei[cf])$/.test(mimeType)
const PREVIEW = 48 // the longest side, in pixels

/** Size and preview of a picture; createImageBitmap turns it upright, as its EXIF says. */
const measure = async file => {
  const bitmap = await createImageBitmap(file)
  const { width, height } = bitmap
  const scale = Math.min(1, PREVIEW / Math.max(width, height))
  const canvas = h("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) })
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"))
  Object.assign(context, { imageSmoothingQuality: "high", fillStyle: "#fff" })
  context.fillRect(0, 0, canvas.width, canvas.height) // JPEG has black for what is transparent.
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return { width, height, preview: canvas.toDataURL("image/jpeg", 0.7).replace(/.*,/, "") }
}

// Browsers see themselves what kind of picture it is.
const previewURL = attachment => attachment.preview && `data:image/jpeg;base64,${attachment.preview}`

/** @type {Opener} */
export const attachments = (app, note) => {
  const { copy, engine, toast, attempt } = app
  const addresses = new Map()
  const tiles = new Map()
  const strip = h("ul", { class: "attachments", "aria-label": "Pictures and files" })
  const progress = h("div", { class: "upload muted small" })
  const problem = h("div")

  const all = () => (copy.note(note)?.attachments ?? []).flatMap(id => copy.attachment(id) ?? [])
  const bytes = async id => await copy.bytes(id) ?? engine.want(id)
  /** Of a picture's bytes, fetched if they are not here. */
  const address = ({ uniqueID, mimeType }) => {
    if (!addresses.has(uniqueID)) {
      const url = bytes(uniqueID).then(blob => URL.createObjectURL(blob.slice(0, blob.size, mimeType)))
      addresses.set(uniqueID, url)
      url.catch(() => addresses.delete(uniqueID))
    }
    return addresses.get(uniqueID)
  }
  const remove = id => attempt(copy.detach(note, id).then(() => toast(`${copy.attachment(id)?.filename ?? "The file"} is out of the note`,
    { label: "Undo", act: () => attempt(copy.reattach(note, id)), seconds: 10 })))
  const download = id => attempt(bytes(id).then(blob => save(blob, copy.attachment(id)?.filename ?? id)))

  const tile = attachment => {
    const { uniqueID, filename: name = "file", width, height, byteCount, mimeType } = attachment
    const state = h("span", { class: "tile-state small" }, "Not sent yet")
    // What this browser cannot show keeps its preview, or has its name.
    const image = h("img", { alt: "", width, height, decoding: "async", src: previewURL(attachment), class: "blurred", onerror: () => image.replaceWith(name) })
    let isShown = !isPicture(attachment)
    const say = async () => {
      const { isUnsent, isHere } = copy.attachment(uniqueID) ?? attachment
      state.hidden = !isUnsent
      if (isShown || !isHere) return
      isShown = true
      const whole = h("img", { src: await address(attachment) })
      await whole.decode()
      image.src = whole.src
      image.classList.remove("blurred")
    }
    const main = isPicture(attachment)
      ? h("button", { type: "button", class: "picture", "aria-label": `Show ${name}`, onclick: () => viewer(uniqueID) }, image, state)
      : h("button", { type: "button", class: "file-chip", title: `Download ${name}`, onclick: () => download(uniqueID) }, icon("file"),
        h("span", { class: "file-name", dir: "auto" }, name), h("span", { class: "muted small" }, `${mimeType.split("/")[1]}, ${byteText(byteCount)}`), state)
    return { say, element: h("li", { class: "tile" }, main,
      iconButton("close", `Take ${name} out of the note`, { class: "tile-remove", onclick: () => remove(uniqueID) })) }
  }
  const layOut = () => {
    const wanted = all().map(attachment => {
      const { uniqueID } = attachment
      if (!tiles.has(uniqueID)) tiles.set(uniqueID, tile(attachment))
      const { say, element } = tiles.get(uniqueID)
      say().catch(() => {}) // The preview stays.
      return element
    })
    for (const { element } of tiles.values()) if (!wanted.includes(element)) element.remove()
    // Only what is not in its place is moved: that takes the focus away.
    wanted.forEach((element, at) => { if (strip.children[at] !== element) strip.insertBefore(element, strip.children[at]) })
    const { count, sent, total } = engine.status.uploads
    fill(progress, count > 0 && all().some(({ isUnsent }) => isUnsent)
      && [`Uploading ${plural(count, "file")}, ${byteText(sent)} of ${byteText(total)}`, h("progress", { max: total || 1, value: sent, "aria-label": "Upload" })])
  }

  /** One picture in full; arrow keys go on. */
  const viewer = first => {
    let at = first
    const { element, image, about, failure, previous, next, save: keep, out } = copyOf("viewer")
    const step = by => {
      const list = all().filter(isPicture)
      const index = (list.findIndex(({ uniqueID }) => uniqueID === at) + by + list.length) % list.length
      const now = list[index]
      const { uniqueID, filename, width, height, byteCount = 0 } = now
      at = uniqueID
      for (const [name, value] of Object.entries({ width, height, alt: filename, src: previewURL(now) })) set(image, name, value)
      fill(about, [filename, width && `${width} × ${height}`, byteText(byteCount), list[1] && `${index + 1} of ${list.length}`].filter(Boolean).join(" · "))
      previous.hidden = next.hidden = !list[1]
      fill(failure)
      address(now).then(url => { if (at === uniqueID) image.src = url }, error => fill(failure, problemView(error, () => step(0))))
    }
    const close = app.dialog("Picture", element, { looks: "viewer" })
    previous.onclick = () => step(-1)
    next.onclick = () => step(1)
    keep.onclick = () => download(at)
    out.onclick = () => { close(); remove(at) }
    element.closest("dialog").onkeydown = ({ key }) => ({ ArrowLeft: previous, ArrowRight: next })[key]?.click()
    step(0)
  }

  const take = async files => {
    fill(problem)
    for (const file of files) {
      try {
        // What cannot be measured, such as a kind that this browser does not know, is kept all the same.
        const size = isPicture({ mimeType: file.type }) ? await measure(file).catch(() => ({})) : {}
        await copy.attach(note, file, { filename: file.name, ...size })
        app.announce(`${file.name} added`)
      } catch (error) {
        problem.append(problemView({ title: `${file.name} was not added`, detail: Reflect.get(Object(error), "message") }))
      }
    }
  }
  copy.addEventListener("change", layOut)
  engine.addEventListener("status", layOut)
  layOut()
  const stop = () => {
    copy.removeEventListener("change", layOut)
    engine.removeEventListener("status", layOut)
    addresses.forEach(url => url.then(URL.revokeObjectURL, () => {}))
  }
  return { take, stop, element: h("div", { class: "attachment-part" }, strip, progress, problem) }
}
