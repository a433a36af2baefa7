import { hash } from 'node:crypto'

/**
 * Random numbers that depend on the id of a request and a seed alone, so that a decision can be replayed. The generator
 * is xoshiro128** (Blackman, Vigna: Scrambled Linear Pseudorandom Number Generators, 2021). Its state begins as the
 * first 16 bytes of SHA-256(id ‖ seed), as four little-endian numbers.
 */
export class Random {
  /** The state, as signed numbers of 32 bits. */
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(id: string, seed = '') {
    const digest = hash('sha256', id + seed, 'buffer')
    this.#a = digest.readInt32LE(0)
    this.#b = digest.readInt32LE(4)
    this.#c = digest.readInt32LE(8)
    this.#d = digest.readInt32LE(12)
  }

  /** 32 random bits. */
  bits(): number {
    const drawn = Math.imul(rotated(Math.imul(this.#b, 5), 7), 9) >>> 0
    const shifted = this.#b << 9
    this.#c ^= this.#a
    this.#d ^= this.#b
    this.#b ^= this.#c
    this.#a ^= this.#d
    this.#c ^= shifted
    this.#d = rotated(this.#d, 11)
    return drawn
  }

  /** A number between 0 and 1, never 0 or 1. */
  uniform(): number {
    return (this.bits() + 0.5) / 2 ** 32
  }

  /** A number from Beta(a, b), as the share of the first of two gammas. Both parameters are above 0. */
  beta(a: number, b: number): number {
    const one = this.#gamma(a)
    const other = this.#gamma(b)
    return one / (one + other)
  }

  /**
   * A number from the gamma distribution with a scale of 1 (Marsaglia, Tsang: A Simple Method for Generating Gamma
   * Variables, 2000).
   */
  #gamma(shape: number): number {
    if (shape < 1) return this.#gamma(shape + 1) * this.uniform() ** (1 / shape)
    const d = shape - 1 / 3
    const c = 1 / Math.sqrt(9 * d)
    for (;;) {
      const x = this.#normal()
      const v = (1 + c * x) ** 3
      if (v > 0 && Math.log(this.uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
    }
  }

  /** A number from the standard normal distribution (Box, Muller 1958). */
  #normal(): number {
    return Math.sqrt(-2 * Math.log(this.uniform())) * Math.cos(2 * Math.PI * this.uniform())
  }
}

function rotated(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by))
}
