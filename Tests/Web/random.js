/** Numbers below `most`, the same in every run, so that a failure can be made again. */
export const random = seed => most => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return (seed >>> 8) % most
}
