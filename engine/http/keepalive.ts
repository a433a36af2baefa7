import { duration } from '../spec/duration.ts'

/** How often a silent stream is looked at within its interval: it is told at most so much of it too early. */
const looks = 16

/** A stream that is watched. Whoever sends something sets `quiet` to 0. */
export interface Beat {
  /** Looks since something was sent. */
  quiet: number
  /** Undefined once it has stopped: a table of the set that was outgrown must not keep a stream that is over. */
  say: (() => void) | undefined
  stop(): void
}

/**
 * Streams that have to say something whenever they were silent for an interval. All of one interval share a timer, which
 * runs while there are any.
 */
class Interval {
  readonly #every: number
  readonly #watched = new Set<Beat>()
  #timer: NodeJS.Timeout | undefined

  constructor(milliseconds: number) {
    this.#every = Math.max(1, Math.floor(milliseconds / looks))
  }

  watch(say: () => void): Beat {
    const beat: Beat = { quiet: 0, say, stop: () => this.#forget(beat) }
    this.#watched.add(beat)
    this.#timer ??= setInterval(() => this.#look(), this.#every).unref()
    return beat
  }

  #look(): void {
    for (const beat of this.#watched) {
      if (++beat.quiet < looks) continue
      beat.quiet = 0
      beat.say?.()
    }
  }

  #forget(beat: Beat): void {
    beat.say = undefined
    this.#watched.delete(beat)
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

const intervals = new Map<string, Interval | undefined>()

/**
 * Watches a stream that is to `say` something after every `interval` of silence, a duration as text.
 * Undefined: it is never to, which is what an interval of 0 means.
 */
export function watchSilence(interval: string, say: () => void): Beat | undefined {
  if (!intervals.has(interval)) {
    const milliseconds = duration(interval)
    intervals.set(interval, milliseconds > 0 ? new Interval(milliseconds) : undefined)
  }
  return intervals.get(interval)?.watch(say)
}
