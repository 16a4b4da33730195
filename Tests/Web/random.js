/** Pseudorandom numbers below `limit`, the same in every run, so that failures can be reproduced. */
export const random = seed => limit => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return (seed >>> 8) % limit
}
