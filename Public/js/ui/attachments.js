// The pictures and files of a note.
import {
  announce, copyOf, dialog, failureOf, fill, follow, problemView, save, tell, tryIn, viewOf, wordsOf,
} from "./dom.js"

/** Whether a file is shown as a picture. Other types of images may contain scripts. */
const isPicture = ({mimeType}) => /^image\/(jpeg|png|gif|webp|avif|bmp|hei[cf])$/.test(mimeType)
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

/** What shows the preview. */
const looksOf = preview => preview ? {src: `data:image/jpeg;base64,${preview}`} : {}

/** @type {Opener} */
export const attachments = (app, note) => {
  const {copy, engine, attempt} = app
  const urls = []
  const tiles = {}
  const {element, strip, progress, problem} = copyOf("attachments")

  const all = () => (copy.note(note)?.attachments ?? []).flatMap(id => copy.attachment(id) ?? [])
  const show = async (image, {uniqueID, mimeType}) => {
    const blob = await engine.want(uniqueID)
    const whole = new Image()
    whole.src = URL.createObjectURL(blob.slice(0, blob.size, mimeType))
    urls.push(whole.src)
    await whole.decode()
    image.src = whole.src
    image.classList.remove("blurred")
  }
  const nameOf = id => copy.attachment(id)?.filename ?? "file"
  const remove = id => app.undoable(copy.detach(note, id), () => copy.reattach(note, id), "file-out", {name: nameOf(id)})
  const download = id => attempt(engine.want(id).then(blob => save(blob, nameOf(id))))

  const tile = attachment => {
    const {uniqueID, filename: name = "file", mimeType, preview} = attachment
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
    shown.forEach(({update}) => update())
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

  const take = async files => {
    fill(problem)
    for (const file of files) {
      try {
        // A picture that this browser cannot decode is added without size and preview.
        const size = isPicture({mimeType: file.type}) ? await measure(file).catch(() => ({})) : {}
        await copy.attach(note, file, {filename: file.name, ...size})
        announce("file-added", file)
      } catch (error) {
        problem.append(problemView({slug: "not-added", title: file.name, detail: wordsOf(failureOf(error), Object(error))}))
      }
    }
  }
  const end = follow(layOut, [copy, "change"], [engine, "status"])
  const stop = () => {
    end()
    urls.forEach(URL.revokeObjectURL)
  }
  return {take, stop, element}
}
