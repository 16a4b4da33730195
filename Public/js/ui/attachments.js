// The pictures and files of a note, and the pictures in its text.
import {rawMembers} from "../model/entity.js"
import {dataPicturesOf, markOf, marksOf, successorOf, withIDs} from "../model/marks.js"
import {
  announce, copyOf, dialog, failureWords, fill, follow, problemView, save, tell, toast, tryIn, viewOf, wordsOf,
} from "./dom.js"

/** Whether a file is shown as a picture. Other types of images may contain scripts. */
const isPicture = ({mimeType}) => /^image\/(jpeg|png|gif|webp|avif|bmp|hei[cf])$/.test(mimeType)
/** Sound and video that is played in place: types that browsers play without running anything. */
const MEDIA = /^(?:audio\/(?:mpeg|mp4|aac|(?:x-)?m4a|ogg|opus|(?:x-)?wav|wave|webm|(?:x-)?flac|3gpp)|video\/(?:mp4|webm|ogg|3gpp))$/
/** The template of the player of a file; "" if this browser does not play it. */
const playerOf = ({mimeType}) => {
  const kind = MEDIA.test(mimeType) ? mimeType.slice(0, 5) : ""
  return kind && new Audio().canPlayType(mimeType) ? kind : ""
}
/** The longest side of a preview, in pixels. */
const PREVIEW_SIZE = 48

/** The size and preview of a picture. */
const measure = async file => {
  const bitmap = await createImageBitmap(file)
  const {width, height} = bitmap
  const scale = Math.min(1, PREVIEW_SIZE / Math.max(width, height))
  const canvas = viewOf("canvas", {width: Math.ceil(width * scale), height: Math.ceil(height * scale)})
  const context = canvas.getContext("2d")
  Object.assign(context, {imageSmoothingQuality: "high", fillStyle: "#fff"})
  context.fillRect(0, 0, canvas.width, canvas.height) // JPEG shows transparent pixels as black.
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return {width, height, preview: canvas.toDataURL("image/jpeg", 0.7).replace(/.*,/, "")}
}

/** The properties of an image that shows a preview. */
const looksOf = preview => preview ? {src: `data:image/jpeg;base64,${preview}`} : {}

/** The elements for errors about files that could not be added, by the ID of the note. */
const problems = new Map()

const tellProblem = (note, {name}, error) => {
  const values = {slug: "not-added", title: name, detail: failureWords(error)}
  const place = problems.get(note)
  place ? place.append(problemView(values)) : toast("not-added", values)
}

/** Adds a file to a note and returns its ID. After an error, shows it and returns "". */
const add = async ({copy}, note, file) => {
  try {
    // A picture that this browser cannot decode is added without size and preview.
    const size = isPicture({mimeType: file.type}) ? await measure(file).catch(() => ({})) : {}
    const id = await copy.attach(note, file, {filename: file.name, ...size})
    announce("file-added", file)
    return id
  } catch (error) {
    tellProblem(note, file, error)
    return ""
  }
}

/** @type {InsertFiles} */
export const insertFiles = async (app, note, files) => {
  fill(problems.get(note) ?? viewOf("region"))
  const marks = []
  for (const file of files) {
    const id = await add(app, note, file)
    if (id && isPicture({mimeType: file.type})) marks.push(markOf(id))
  }
  return marks.join("\n")
}

/** Adds the pictures whose bytes are in a text to the note, and replaces them with marks. */
const takeDataPictures = async (app, note, text) => {
  let result = ""
  let last = 0
  for (const {alt, start, end, type, base64} of dataPicturesOf(text)) {
    const file = await fileOf(base64, type).catch(() => null)
    const id = file && await add(app, note, file)
    result += text.slice(last, start) + (id ? markOf(id, alt) : alt)
    last = end
  }
  return result + text.slice(last)
}
const fileOf = async (base64, type) => {
  const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))
  return new File([bytes], `picture.${type.slice(6)}`, {type})
}

/** @type {AdoptMarks} */
export const adoptMarks = async (app, note, text) => {
  const {copy, engine} = app
  const own = copy.members(note, "attachments")
  const earlier = rawMembers(/** @type {Entity} */ (copy.known(note)), "attachments").map(({id}) => id)
  /** @type {Record<string, string>} */
  const ids = {}
  let missing = 0
  for (const id of new Set(marksOf(text).map(mark => mark.id))) {
    const known = copy.attachment(id)
    if (!known || own.includes(id)) continue
    const {mimeType, filename, width, height, preview} = known
    try {
      // A picture that was removed from this note comes back.
      if (earlier.includes(id)) await copy.reattach(note, id)
      else ids[id] = await copy.attach(note, await engine.want(id), {mimeType, filename, width, height, preview})
    } catch (/** @type {any} */ error) {
      if (error.slug === "network") missing++
      else tellProblem(note, {name: filename ?? wordsOf("file-name")}, error)
    }
  }
  if (missing) toast("pictures-missing", {missing})
  return takeDataPictures(app, note, withIDs(text, ids))
}

/** @type {PastedText} */
export const pastedText = async (html, plain) => {
  // The module cannot be loaded offline before the service worker has stored it.
  const {markdownOf} = html ? await import("./paste.js").catch(() => ({markdownOf: () => null})) : {markdownOf: () => null}
  return markdownOf(html, plain) ?? plain.replace(/\r\n?/g, "\n")
}

/** @type {PictureOf} */
export const pictureOf = (copy, note, {id, alt}) => {
  const members = copy.members(note, "attachments")
  const member = members.includes(id) ? id : members.find(one => one === successorOf(id, note))
  const attachment = member && copy.attachment(member)
  return {attachment: attachment || null, name: alt || (attachment || copy.attachment(id))?.filename || ""}
}

/** @type {Opener} */
export const attachments = (app, note) => {
  const {copy, engine, attempt} = app
  const urls = []
  const tiles = {}
  const {element, strip, progress, problem} = copyOf("attachments")

  problems.set(note, problem)

  const all = () => (copy.note(note)?.attachments ?? []).flatMap(id => copy.attachment(id) ?? [])
  const urlOf = async ({uniqueID, mimeType}) => {
    const blob = await engine.want(uniqueID)
    const url = URL.createObjectURL(blob.slice(0, blob.size, mimeType))
    urls.push(url)
    return url
  }
  const show = async (image, attachment) => {
    const whole = new Image()
    whole.src = await urlOf(attachment)
    await whole.decode()
    image.src = whole.src
    image.classList.remove("blurred")
  }
  const nameOf = id => copy.attachment(id)?.filename ?? wordsOf("file-name")
  const remove = id => app.undoable(copy.detach(note, id), () => copy.reattach(note, id), "file-out", {name: nameOf(id)})
  const download = id => attempt(engine.want(id).then(blob => save(blob, nameOf(id))))

  /** Sound or video: a player if the bytes are here, else a button that downloads and plays it. */
  const playerTile = (attachment, kind) => {
    const {uniqueID, filename: name = wordsOf("file-name"), mimeType} = attachment
    let isShown = false
    const load = async () => {
      isShown = true
      const media = viewOf(kind, {name, media: {src: await urlOf(attachment)}})
      media.onerror = () => media.remove() // The file can still be downloaded.
      fill(player, media)
      return media
    }
    const play = () => attempt(load().then(media => media.play().catch(() => {}), error => {
      isShown = false
      throw error
    }))
    const {element, player, state} = copyOf("media", {
      ...attachment, name, kind: mimeType.split("/")[1], main: () => download(uniqueID), out: () => remove(uniqueID), play,
    })
    const update = () => {
      const {isUnsent, isHere} = copy.attachment(uniqueID) ?? attachment
      state.hidden = !isUnsent
      if (isHere && !isShown) load().catch(() => { isShown = false })
    }
    return {update, element}
  }
  const tile = attachment => {
    const kind = playerOf(attachment)
    if (kind) return playerTile(attachment, kind)
    const {uniqueID, filename: name = wordsOf("file-name"), mimeType, preview} = attachment
    const showName = () => image.replaceWith(name)
    let isShown = !isPicture(attachment)
    const {element, image, state} = copyOf(isShown ? "file" : "picture", {
      ...attachment, name, kind: mimeType.split("/")[1], out: () => remove(uniqueID),
      main: isShown ? () => download(uniqueID) : () => viewer(uniqueID),
      image: {...looksOf(preview), onerror: showName},
    })
    const update = () => {
      const {isUnsent, isHere} = copy.attachment(uniqueID) ?? attachment
      state.hidden = !isUnsent
      if (isShown || !isHere) return
      isShown = true
      show(image, attachment).catch(() => preview || showName())
    }
    return {update, element}
  }
  const layOut = () => {
    const known = all()
    const shown = known.map(attachment => tiles[attachment.uniqueID] ??= tile(attachment))
    const marked = new Set(marksOf(copy.note(note)?.text ?? "").map(({id}) => id))
    shown.forEach(({update, element}, at) => {
      update()
      element.classList.toggle("in-text", marked.has(known[at].uniqueID)) // In print, it is shown in the text only.
    })
    tell(strip, known.map(({uniqueID}) => uniqueID), () => shown.map(({element}) => element))
    const {uploads} = engine.status
    fill(progress, uploads.count > 0 && known.some(({isUnsent}) => isUnsent) && viewOf("uploading", uploads))
  }

  const viewer = first => {
    let at = first
    const step = by => {
      const list = all().filter(isPicture)
      const index = (list.findIndex(({uniqueID}) => uniqueID === at) + by + list.length) % list.length
      const now = list[index]
      at = now.uniqueID
      const {element, image, failure} = copyOf("full", {...now, image: looksOf(now.preview)})
      fill(picture, element)
      fill(about, viewOf("caption", {...now, place: index + 1, count: list.length, hasOthers: list[1]}))
      tryIn(failure, () => show(image, now))
    }
    const {element, picture, about, previous, next} = copyOf("viewer", {
      previous: () => step(-1), next: () => step(1), save: () => download(at), out: () => remove(at),
    })
    step(0)
    dialog(element).onkeydown = ({key}) => ({ArrowLeft: previous, ArrowRight: next})[key]?.click()
  }

  /** The element beside a mark in the text: the picture, or its name if it is missing. */
  const embed = mark => {
    const {attachment, name} = pictureOf(copy, note, mark)
    const isShown = attachment && isPicture(attachment)
    const key = `${isShown ? attachment.uniqueID : ""} ${name}`
    return {key, make: () => {
      if (!isShown) return viewOf("inline-missing", {name})
      const {uniqueID, preview} = attachment
      const {element, image} = copyOf("inline-picture", {...attachment, name, image: looksOf(preview), main: () => viewer(uniqueID)})
      show(image, attachment).catch(() => {})
      return element
    }}
  }
  const end = follow(layOut, [copy, "change"], [engine, "status"])
  const stop = () => {
    end()
    if (problems.get(note) === problem) problems.delete(note)
    urls.forEach(URL.revokeObjectURL)
  }
  return {embed, stop, element}
}
