// Pictures and files of a note: taken in, shown small and in full, downloaded, taken out again.

import { byteText, fill, h, icon, iconButton, plural, set } from "./dom.js"
import { problemView, save } from "./problems.js"


/** Pictures that browsers only show; in all else something could run. */
const PICTURES = /^image\/(jpeg|png|gif|webp|avif|bmp|hei[cf])$/
/** The longest side of a preview, in pixels. */
const PREVIEW = 48

/**
 * Size and preview of a picture, upright: createImageBitmap turns it as its EXIF says.
 * @param {Blob} file
 */
const measure = async file => {
  const bitmap = await createImageBitmap(file)
  const { width, height } = bitmap
  const scale = Math.min(1, PREVIEW / Math.max(width, height))
  const canvas = h("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) })
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"))
  context.imageSmoothingQuality = "high"
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  bitmap.close()
  // Who cannot write WebP writes PNG, which is larger than JPEG.
  const urls = ["webp", "jpeg"].map(kind => canvas.toDataURL(`image/${kind}`, 0.7))
  return { width, height, preview: urls[urls[0].startsWith("data:image/webp") ? 0 : 1].replace(/.*,/, "") }
}

/**
 * The kind of picture is in the first letters of its Base64.
 * @param {string} [preview]
 */
const previewURL = preview => preview && `data:image/${preview.startsWith("UklGR") ? "webp" : preview.startsWith("iVBOR") ? "png" : "jpeg"};base64,${preview}`

/** @type {import("./shell.js").Opener} */
export const attachments = (app, note) => {
  const { copy, engine, toast } = app
  const listening = new AbortController()
  const { signal } = listening
  /** @type {Map<string, Promise<string>>} */
  const addresses = new Map()
  /** @type {Map<string, {element: HTMLElement, say: () => void}>} */
  const tiles = new Map()
  const strip = h("ul", { class: "attachments", "aria-label": "Pictures and files" })
  const progress = h("div", { class: "upload muted small" })
  const problem = h("div")

  const all = () => (copy.note(note)?.attachments ?? []).flatMap(id => copy.attachment(id) ?? [])
  const pictures = () => all().filter(({ mimeType }) => PICTURES.test(mimeType))
  /** @param {string} id @returns {Promise<Blob>} */
  const bytes = async id => await copy.bytes(id) ?? engine.want(id)
  /**
   * Where a picture's bytes are to be had, fetched if they are not here.
   * @param {Attachment} attachment
   */
  const address = ({ uniqueID, mimeType }) => {
    const known = addresses.get(uniqueID) ?? bytes(uniqueID).then(blob => URL.createObjectURL(blob.slice(0, blob.size, mimeType)))
    addresses.set(uniqueID, known)
    known.catch(() => addresses.delete(uniqueID))
    return known
  }
  /** @param {Attachment} attachment */
  const remove = async ({ uniqueID, filename }) => {
    await copy.detach(note, uniqueID)
    toast(`${filename || "The picture"} is out of the note`, { label: "Undo", act: () => app.attempt(copy.reattach(note, uniqueID)), seconds: 10 })
  }
  /** @param {Attachment} attachment @returns {Promise<void>} */
  const download = ({ uniqueID, filename }) => bytes(uniqueID).then(blob => save(blob, filename || uniqueID), app.fail)

  /** @param {Attachment} attachment */
  const tile = attachment => {
    const { uniqueID, filename, width, height, preview, byteCount = 0, mimeType } = attachment
    const isPicture = PICTURES.test(mimeType)
    const name = filename || (isPicture ? "Picture" : "File")
    const state = h("span", { class: "tile-state small" }, "Not sent yet")
    const image = h("img", { alt: "", width, height, decoding: "async", src: previewURL(preview), class: "blurred" })
    let isShown = !isPicture
    const say = () => {
      const now = copy.attachment(uniqueID)
      state.hidden = !now?.isUnsent
      if (isShown || !now?.isHere) return
      isShown = true
      address(now).then(url => { image.src = url; image.classList.remove("blurred") }, () => { isShown = false })
    }
    // What this browser cannot show keeps its preview, or has its name.
    image.addEventListener("error", () => {
      if (preview && image.src.startsWith("blob:")) image.src = previewURL(preview) ?? ""
      else image.replaceWith(name)
    })
    return {
      say, element: h("li", { class: "tile" }, isPicture
        ? h("button", { type: "button", class: "picture", "aria-label": `Show ${name}`, onclick: () => viewer(uniqueID) }, image, state)
        : h("button", { type: "button", class: "file-chip", title: `Download ${name}`, onclick: () => download(attachment) }, icon("file"),
          h("span", { class: "file-name", dir: "auto" }, name), h("span", { class: "muted small" }, `${mimeType.split("/")[1]}, ${byteText(byteCount)}`), state),
      iconButton("close", `Take ${name} out of the note`, { class: "tile-remove", onclick: () => app.attempt(remove(attachment)) })),
    }
  }
  const layOut = () => {
    const wanted = all().map(attachment => {
      const known = tiles.get(attachment.uniqueID) ?? tile(attachment)
      tiles.set(attachment.uniqueID, known)
      known.say()
      return known.element
    })
    for (const { element } of tiles.values()) if (!wanted.includes(element)) element.remove()
    // Only what is not in its place is moved: that takes the focus away.
    wanted.forEach((element, at) => { if (strip.children[at] !== element) strip.insertBefore(element, strip.children[at]) })
    strip.hidden = !wanted.length
  }
  const sayProgress = () => {
    const { count, sent, total } = engine.status.uploads
    fill(progress, count > 0 && all().some(({ isUnsent }) => isUnsent)
      && [`Uploading ${plural(count, "file")}, ${byteText(sent)} of ${byteText(total)}`, h("progress", { max: total || 1, value: sent, "aria-label": "Upload" })])
  }

  /**
   * One picture in full; arrow keys go on.
   * @param {string} first
   */
  const viewer = first => {
    let at = first
    const image = h("img")
    const about = h("p", { class: "muted small", role: "status" })
    const failure = h("div")
    const here = () => pictures().find(({ uniqueID }) => uniqueID === at) ?? pictures()[0]
    /** @param {number} by */
    const step = async by => {
      const list = pictures()
      const index = (list.indexOf(here()) + by + list.length) % list.length
      const now = list[index]
      at = now.uniqueID
      for (const name of /** @type {const} */ (["width", "height"])) set(image, name, now[name])
      set(image, "alt", now.filename || "Picture")
      set(image, "src", previewURL(now.preview))
      fill(about, [now.filename, now.width && `${now.width} × ${now.height}`, byteText(now.byteCount ?? 0), list.length > 1 && `${index + 1} of ${list.length}`].filter(Boolean).join(" · "))
      previous.hidden = next.hidden = list.length < 2
      fill(failure)
      const url = await address(now).catch(error => { fill(failure, problemView(error, () => step(0))) })
      if (at === now.uniqueID && url) image.src = url
    }
    const previous = iconButton("back", "Previous picture", { onclick: () => step(-1) })
    const next = iconButton("back", "Next picture", { class: "forward", onclick: () => step(1) })
    const content = h("figure", { class: "viewer-figure" }, h("div", { class: "viewer-picture" }, image), failure, h("figcaption", null, previous, about,
      iconButton("download", "Download", { onclick: () => download(here()) }),
      iconButton("trash", "Take it out of the note", { onclick: () => { close(); app.attempt(remove(here())) } }), next))
    const close = app.dialog("Picture", content, { looks: /** @type {any} */ ("viewer") })
    content.closest("dialog")?.addEventListener("keydown", ({ key }) => { if (key === "ArrowRight" || key === "ArrowLeft") step(key === "ArrowLeft" ? -1 : 1) })
    step(0)
  }

  /** @param {File[]} files */
  const take = async files => {
    fill(problem)
    for (const file of files) {
      try {
        // What cannot be measured, such as a kind that this browser does not know, is kept all the same.
        const size = PICTURES.test(file.type) ? await measure(file).catch(() => ({})) : {}
        await copy.attach(note, file, { filename: file.name, ...size })
        app.announce(`${file.name} added`)
      } catch (error) {
        problem.append(problemView(Object.assign(Object(error), { title: `${file.name} was not added` })))
      }
    }
  }
  copy.addEventListener("change", layOut, { signal })
  engine.addEventListener("status", sayProgress, { signal })
  layOut()
  sayProgress()
  return {
    take, element: h("div", { class: "attachment-part" }, strip, progress, problem),
    stop: () => { listening.abort(); addresses.forEach(known => known.then(URL.revokeObjectURL, () => {})) },
  }
}
