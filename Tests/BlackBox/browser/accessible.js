/* Finds accessibility faults of a page. Returns a list of reports, empty if there are none.
 *
 * An expression for page.evaluate: ({touch}) => reports. Names and roles are computed by the browser
 * (--enable-blink-features=ComputedAccessibilityInfo). Limits are from WCAG 2.2: contrast 1.4.3 and 1.4.11,
 * targets 2.5.8 (24 px), with touch 2.5.5 (44 px).
 */
(({ touch = false } = {}) => {
  const found = []
  const report = (rule, element, detail) => found.push(`${rule}: ${describe(element)} ${detail}`)
  const describe = element => {
    const id = element.id ? `#${element.id}` : ""
    const classes = typeof element.className === "string" && element.className ? "." + element.className.trim().replace(/\s+/g, ".") : ""
    return `<${element.localName}${id}${classes}> “${(element.textContent || element.value || "").trim().slice(0, 40)}”`
  }
  const all = selector => [...document.querySelectorAll(selector)]
  const INTERACTIVE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [contenteditable], [tabindex]," +
    ["button", "link", "checkbox", "option", "tab", "menuitem", "switch", "textbox", "combobox", "searchbox", "radio", "slider"]
      .map(role => `[role=${role}]`).join()
  const ROLES = new Set(("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
    "complementary contentinfo definition deletion dialog document emphasis feed figure form generic grid gridcell group heading img " +
    "image insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter " +
    "navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search " +
    "searchbox separator slider spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel term textbox " +
    "time timer toolbar tooltip tree treegrid treeitem").split(" "))
  const PARENTS = { option: ["listbox", "group", "combobox"], tab: ["tablist"], listitem: ["list", "directory"], row: ["grid", "table", "treegrid", "rowgroup"],
    menuitem: ["menu", "menubar", "group"], treeitem: ["tree", "group"], gridcell: ["row"] }

  // A fading text has less contrast than the text it becomes.
  for (const animation of document.getAnimations())
    if (animation.effect.getComputedTiming().endTime !== Infinity) animation.finish()

  const isShown = element => {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) return false
    const box = element.getBoundingClientRect()
    return box.width > 0 && box.height > 0
  }
  // Visible only to screen readers: a clipped box of one or two pixels.
  const isClipped = element => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at), box = at.getBoundingClientRect()
      if (style.clipPath !== "none" || (style.overflow !== "visible" && box.width <= 2 && box.height <= 2)) return true
    }
    return false
  }
  const isExposed = element => element.checkVisibility({ visibilityProperty: true }) && !element.closest("[aria-hidden=true], [inert]")
  const isCovered = element => {  // by a modal dialog
    const modal = document.querySelector("dialog:modal, [aria-modal=true]")
    return modal && isShown(modal) && !modal.contains(element)
  }

  // Names, roles, structure
  if (!document.documentElement.lang) report("language", document.documentElement, "has no language")
  if (!document.title.trim()) report("title", document.documentElement, "has no title")
  const ids = all("[id]").map(element => element.id)
  for (const element of all("[id]")) if (ids.filter(id => id === element.id).length > 1) report("duplicate ID", element, "")
  if (all("main, [role=main]").filter(isExposed).length !== 1) report("landmark", document.body, "has not exactly one main")
  for (const element of all("[role]")) {
    for (const role of element.getAttribute("role").split(/\s+/)) if (!ROLES.has(role)) report("role", element, `has the unknown role ${role}`)
    const parents = PARENTS[element.getAttribute("role")]
    if (parents && isExposed(element) && !parents.includes(element.parentElement.closest("[role]:not([role=none])")?.getAttribute("role")) &&
        !parents.includes(element.parentElement.computedRole)) report("role", element, `is in no ${parents.join(" or ")}`)
  }
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant", "aria-owns"])
    for (const element of all(`[${name}]`))
      for (const id of element.getAttribute(name).split(/\s+/).filter(Boolean))
        // A closed popup need not exist. Its button still names it.
        if (!document.getElementById(id) && !(name === "aria-controls" && element.getAttribute("aria-expanded") === "false"))
          report("reference", element, `${name} names ${id}, which does not exist`)
  for (const element of all("img:not([alt]), svg:not([aria-hidden=true]):not([role=img])"))
    if (isShown(element) && isExposed(element)) report("alternative text", element, "has none")
  for (const element of all("[role=img], [role=dialog], dialog[open], [role=listbox], [role=region], [role=progressbar], progress, [role=group]"))
    if (isExposed(element) && !element.computedName) report("name", element, `(${element.computedRole}) has none`)
  const navigations = all("nav, [role=navigation]").filter(isExposed)
  if (navigations.length > 1) for (const element of navigations) if (!element.computedName) report("name", element, "is one of several navigations")
  // A navigation beside the main part may have a heading of level 2 before the heading of level 1.
  let level = 1, isTitled = false
  for (const element of all("h1, h2, h3, h4, h5, h6, [role=heading]").filter(element => isExposed(element) && !isCovered(element))) {
    const own = Number(element.getAttribute("aria-level") ?? element.localName.slice(1))
    if (own > level + 1) report("heading order", element, `is of level ${own} after ${level}`)
    if (!element.textContent.trim()) report("heading order", element, "is empty")
    level = own
    isTitled ||= own === 1
  }
  if (!isTitled && !document.querySelector("dialog:modal")) report("heading order", document.body, "has no heading of level 1")
  if (!all("[aria-live], [role=status], [role=alert], [role=log], output").length) report("live region", document.body, "has none")

  // Controls
  const controls = [...new Set(all(INTERACTIVE))].filter(element => isExposed(element) && isShown(element) && !isCovered(element))
  for (const element of controls) {
    const isScroller = element.getAttribute("tabindex") && !element.computedRole.match(/button|link|box|option|tab|item|switch|radio/)
    if (!element.computedName && !(isScroller && element.tabIndex < 0)) report("name", element, `(${element.computedRole}) has none`)
    if (element.tabIndex > 0) report("order of focus", element, `has tabindex ${element.tabIndex}`)
    if (element.parentElement.closest("button, a[href]")) report("nesting", element, "is inside of another button or link")
  }
  for (const element of all("input:not([type=hidden]):not([type=submit]):not([type=button]), select, textarea").filter(isExposed))
    if (!element.labels?.length && !element.getAttribute("aria-label") && !element.getAttribute("aria-labelledby"))
      report("label", element, "has none (a placeholder is no label)")
  for (const element of all("[aria-hidden=true]"))
    for (const inner of [element, ...element.querySelectorAll(INTERACTIVE)])
      if (inner.tabIndex >= 0 && isShown(inner) && !inner.disabled && !inner.closest("[inert]")) report("hidden", inner, "can be focused, but is hidden from screen readers")

  // Targets
  const minimum = touch ? 44 : 24
  for (const element of controls) {
    if (element.disabled || isClipped(element) || element.tabIndex < 0 && !element.matches("[role=option], button, a[href]")) continue
    const style = getComputedStyle(element)
    if (element.localName === "a" && style.display === "inline") continue  // links in sentences (2.5.8, Inline)
    const boxes = [element, ...(element.labels ?? [])].map(each => each.getBoundingClientRect())
    const width = Math.max(...boxes.map(box => box.width)), height = Math.max(...boxes.map(box => box.height))
    if (width < minimum - 0.5 || height < minimum - 0.5) report("target", element, `has ${width.toFixed()} × ${height.toFixed()} px, not ${minimum}`)
  }

  // Contrast. Colours are drawn on a canvas to get them as [red, green, blue, alpha].
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const known = new Map()
  const colour = text => {
    if (!known.has(text)) {
      canvas.canvas.width = canvas.canvas.height = 1
      canvas.fillStyle = text
      canvas.fillRect(0, 0, 1, 1)
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data
      known.set(text, [red, green, blue, alpha / 255])
    }
    return known.get(text)
  }
  const over = (front, back) => [0, 1, 2].map(part => front[part] * front[3] + back[part] * (1 - front[3])).concat(1)
  const backgroundOf = element => {
    const layers = []
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at)
      if (style.backgroundImage.includes("url(")) return null
      const background = colour(style.backgroundColor)
      if (background[3] > 0) layers.push(background)
      if (background[3] === 1) break
      if (at.matches("dialog:modal")) break
    }
    const canvasColour = getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches
      ? [18, 18, 18, 1] : [255, 255, 255, 1]
    return layers.reduceRight((back, front) => over(front, back), canvasColour)
  }
  const luminance = rgb => rgb.slice(0, 3).map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0)
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a)
    return (light + 0.05) / (dark + 0.05)
  }
  const opacityOf = element => {
    let opacity = 1
    for (let at = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity)
    return opacity
  }
  const check = (element, text, style, kind) => {
    const back = backgroundOf(element)
    if (!back) return
    const foreground = colour(style.color)
    const front = over([foreground[0], foreground[1], foreground[2], foreground[3] * opacityOf(element) * Number(kind === "placeholder" ? style.opacity : 1)], back)
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700
    const ratio = contrast(front, back), needed = kind === "symbol" || isLarge ? 3 : 4.5
    if (ratio < needed) report("contrast", element, `${kind} “${text.slice(0, 30)}” has ${ratio.toFixed(2)}, not ${needed}`)
  }
  const isDisabled = element => element.closest(":disabled, [aria-disabled=true]")
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement, text = node.data.trim()
    if (!text || element.closest("script, style, template, noscript, title, svg") || isDisabled(element) || !isShown(element) || isClipped(element) || isCovered(element)) continue
    // Strings without letters or digits (✓, ×) are symbols.
    check(element, text, getComputedStyle(element), /[\p{L}\p{N}]/u.test(text) ? "text" : "symbol")
  }
  for (const element of all("input, textarea, select").filter(element => isShown(element) && !isDisabled(element) && !isClipped(element) && !isCovered(element))) {
    if (element.value && !["checkbox", "radio", "range", "color", "file"].includes(element.type)) check(element, element.value, getComputedStyle(element), "text")
    if (element.placeholder && !element.value) check(element, element.placeholder, getComputedStyle(element, "::placeholder"), "placeholder")
  }
  for (const element of all("svg").filter(element => isShown(element) && !isDisabled(element) && !isCovered(element)))
    if (element.closest(INTERACTIVE)) check(element, "svg", getComputedStyle(element), "symbol")

  // Reflow (1.4.10): no horizontal scrolling.
  if (document.documentElement.scrollWidth > innerWidth + 1)
    report("reflow", document.documentElement, `is ${document.documentElement.scrollWidth} px wide on ${innerWidth}`)
  return [...new Set(found)]
})
